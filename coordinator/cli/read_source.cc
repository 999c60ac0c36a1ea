#include "coordinator/cli/read_source.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/address.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/store/sqlite_round_store.h"

namespace benchfleet {

void ReadSource::AddFlags(FlagSet& flags) {
  flags.String("db", &db, "database file (default results.db)");
  flags.String("coordinator", &coordinator,
               "HOST:PORT of a running coordinator "
               "(default $BENCHFLEET_COORDINATOR)");
}

void ReadSource::Resolve() {
  if (!coordinator.empty() || !db.empty()) return;
  const char* address = std::getenv("BENCHFLEET_COORDINATOR");
  if (address != nullptr) coordinator = address;
  if (coordinator.empty()) db = "results.db";
}

absl::StatusOr<std::unique_ptr<RoundStore>> ReadSource::OpenDb() const {
  auto store = OpenRoundStoreReadOnly(db);
  if (!absl::IsNotFound(store.status())) return store;
  return absl::FailedPreconditionError(store.status().message());
}

absl::StatusOr<ReadingCall> ParseReadingCall(const std::string& verb,
                                             FlagSet flags, int argc,
                                             char* const* argv) {
  ReadingCall call;
  call.source.AddFlags(flags);
  ASSIGN_OR_RETURN(call.rest, flags.Parse(argc, argv));
  call.source.Resolve();
  if (call.source.is_coordinator()) {
    RETURN_IF_ERROR(CheckAddress("--coordinator", call.source.coordinator));
    SetUpLog("coordinator", "error");
  }
  call.help = flags.help_asked();
  if (call.help) PrintAll(verb, flags.Help());
  return call;
}

absl::StatusOr<int64_t> RunArgument(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return 0;
  if (arguments.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at most one RUN, got also ", arguments[1]));
  }
  return ParseRunId(arguments[0]);
}

}  // namespace benchfleet
