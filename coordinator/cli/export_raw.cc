#include "coordinator/cli/export_raw.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/flags.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/report/round_result.h"
#include "coordinator/store/sqlite_round_store.h"

namespace benchfleet {
namespace {

struct Wanted {
  std::string db_path = "results.db";
  int64_t run_id = 0;
  std::string engine, case_id;
  uint64_t repeat = 1;
};

int Export(const Wanted& wanted) {
  const auto store = OpenRoundStoreReadOnly(wanted.db_path);
  if (!store.ok()) {
    return FailVerb("export-raw", store.status(), kExitCouldNotRun);
  }
  const auto artifact =
      FindRawArtifact(**store, wanted.run_id, wanted.engine, wanted.case_id,
                      static_cast<uint32_t>(wanted.repeat));
  if (artifact.ok()) return PrintAll("export-raw", *artifact);
  const bool asked_wrong = absl::IsNotFound(artifact.status()) ||
                           absl::IsFailedPrecondition(artifact.status());
  return FailVerb("export-raw", artifact.status(),
                  asked_wrong ? kExitUsage : kExitCouldNotRun);
}

}  // namespace

int RunExportRaw(int argc, char** argv) {
  Wanted wanted;
  FlagSet flags("coordinator export-raw [RUN] --engine=E --case=C [flags]",
                "Prints the raw timings of a counted round as JSON lines; "
                "their SHA-256 is the row's source_sha256.");
  flags.String("db", &wanted.db_path, "database file");
  flags.String("engine", &wanted.engine, "name of the engine");
  flags.String("case", &wanted.case_id, "id of the case");
  flags.Uint("repeat", &wanted.repeat, "repeat, from 1", UINT32_MAX);
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok()) {
    return FailVerb("export-raw", arguments.status(), kExitUsage);
  }
  if (flags.help_asked()) return PrintAll("export-raw", flags.Help());
  if (arguments->size() > 1 || wanted.engine.empty() ||
      wanted.case_id.empty()) {
    return FailVerb("export-raw",
                    absl::InvalidArgumentError(
                        "expected --engine, --case and at most one RUN"),
                    kExitUsage);
  }
  if (!arguments->empty()) {
    const auto run_id = ParseRunId((*arguments)[0]);
    if (!run_id.ok()) {
      return FailVerb("export-raw", run_id.status(), kExitUsage);
    }
    wanted.run_id = *run_id;
  }
  return Export(wanted);
}

}  // namespace benchfleet
