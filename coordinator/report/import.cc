#include "coordinator/report/import.h"

#include <optional>

#include "common/sha256.h"
#include "common/status_macros.h"

namespace benchfleet {

absl::StatusOr<int64_t> ImportResultFile(RoundStore& store,
                                         absl::string_view text,
                                         absl::Time now) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> before,
                   store.FindImport(Sha256Hex(text)));
  if (before) return *before;
  ASSIGN_OR_RETURN(NewRun run, ParseResultFile(text));
  run.run.created = now;
  run.run.finished = now;
  return store.CreateRun(run);
}

}  // namespace benchfleet
