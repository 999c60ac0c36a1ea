#include "coordinator/cli/export_raw.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/flags.h"
#include "common/status_macros.h"
#include "coordinator/cli/control_client.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/read_source.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/report/round_result.h"

namespace benchfleet {
namespace {

struct WantedRound {
  std::string engine, case_id;
  uint64_t repeat = 1;
};

absl::StatusOr<std::string> ReadArtifact(const ReadingCall& call,
                                         const WantedRound& wanted) {
  if (wanted.engine.empty() || wanted.case_id.empty()) {
    return absl::InvalidArgumentError("needs --engine and --case");
  }
  v1::GetRawArtifactRequest request;
  ASSIGN_OR_RETURN(const int64_t run_id, RunArgument(call.rest));
  request.set_run_id(run_id);
  request.set_engine(wanted.engine);
  request.set_case_id(wanted.case_id);
  request.set_repeat(static_cast<uint32_t>(wanted.repeat));
  if (call.source.is_coordinator()) {
    return ControlClient(call.source.coordinator).RawArtifact(request);
  }
  ASSIGN_OR_RETURN(const auto store, call.source.OpenDb());
  auto artifact = FindRawArtifact(*store, request.run_id(), request.engine(),
                                  request.case_id(), request.repeat());
  // An imported run has none: the wrong one was asked for.
  if (absl::IsFailedPrecondition(artifact.status())) {
    return absl::InvalidArgumentError(artifact.status().message());
  }
  return artifact;
}

}  // namespace

int RunExportRaw(int argc, char* const* argv) {
  WantedRound wanted;
  FlagSet flags("coordinator export-raw [RUN] --engine=E --case=C [flags]",
                "Prints the raw timings of a counted round as JSON lines; "
                "their SHA-256 is the row's source_sha256.");
  flags.String("engine", &wanted.engine, "name of the engine");
  flags.String("case", &wanted.case_id, "id of the case");
  flags.Uint("repeat", &wanted.repeat, "repeat, from 1", UINT32_MAX);
  const auto call = ParseReadingCall("export-raw", flags, argc, argv);
  if (!call.ok()) return FailVerb("export-raw", call.status());
  if (call->help) return kExitPass;
  const auto artifact = ReadArtifact(*call, wanted);
  if (artifact.ok()) return PrintAll("export-raw", *artifact);
  return FailVerb("export-raw", artifact.status());
}

}  // namespace benchfleet
