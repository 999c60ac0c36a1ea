#include "coordinator/cli/import.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/status_macros.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/report/import.h"
#include "coordinator/store/sqlite_round_store.h"

namespace benchfleet {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;

absl::StatusOr<std::string> ReadResultFile(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rbe"),
                                             &fclose);
  if (file == nullptr) {
    return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  }
  std::string text;
  char buffer[1 << 16];
  size_t size = 0;
  while ((size = fread(buffer, 1, sizeof(buffer), file.get())) > 0) {
    text.append(buffer, size);
    if (text.size() > kMostBytes) {
      return absl::OutOfRangeError(
          absl::StrCat(path, ": is larger than ", kMostBytes >> 20, " MiB"));
    }
  }
  if (ferror(file.get())) {
    return absl::UnavailableError(absl::StrCat(path, ": ", strerror(errno)));
  }
  return text;
}

// Opens the database only for a file that is fit for it.
int ImportFile(const std::string& path, const std::string& db_path) {
  const auto text = ReadResultFile(path);
  if (!text.ok()) return FailVerb("import", text.status(), kExitCouldNotRun);
  if (const auto run = ParseResultFile(*text); !run.ok()) {
    return FailVerb("import",
                    absl::InvalidArgumentError(absl::StrCat(
                        path, " is refused:\n", run.status().message())),
                    kExitUsage);
  }
  const auto store = OpenRoundStore(db_path);
  if (!store.ok()) return FailVerb("import", store.status(), kExitCouldNotRun);
  const auto run_id = ImportResultFile(**store, *text, RealClock().WallNow());
  if (!run_id.ok()) {
    return FailVerb("import", run_id.status(), kExitCouldNotRun);
  }
  return PrintAll("import", absl::StrCat("run ", *run_id, " in ", db_path,
                                         " holds ", path, "\n"));
}

}  // namespace

int RunImport(int argc, char* const* argv) {
  std::string db_path = "results.db";
  FlagSet flags("coordinator import FILE [flags]",
                "Reads a result file (JSON) into the database as a run.");
  flags.String("db", &db_path, "database file, created if missing");
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok()) {
    return FailVerb("import", arguments.status(), kExitUsage);
  }
  if (flags.help_asked()) return PrintAll("import", flags.Help());
  if (arguments->size() != 1) {
    return FailVerb("import", absl::InvalidArgumentError("expected one FILE"),
                    kExitUsage);
  }
  return ImportFile((*arguments)[0], db_path);
}

}  // namespace benchfleet
