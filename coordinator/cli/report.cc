#include "coordinator/cli/report.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/cli/control_client.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/read_source.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/report/report.h"

namespace benchfleet {
namespace {

absl::StatusOr<v1::ReportFormat> ParseReportFormat(absl::string_view name) {
  if (name == "text") return v1::REPORT_TEXT;
  if (name == "json") return v1::REPORT_JSON;
  if (name == "csv") return v1::REPORT_CSV;
  if (name == "md") return v1::REPORT_MD;
  return absl::InvalidArgumentError(
      absl::StrCat("--format=", name, ": expected text, json, csv or md"));
}

absl::StatusOr<std::string> ReadReport(const ReadingCall& call,
                                       const std::string& format_name) {
  ASSIGN_OR_RETURN(const int64_t run_id, RunArgument(call.rest));
  ASSIGN_OR_RETURN(const v1::ReportFormat format,
                   ParseReportFormat(format_name));
  if (call.source.is_coordinator()) {
    return ControlClient(call.source.coordinator).Report(run_id, format);
  }
  ASSIGN_OR_RETURN(const auto store, call.source.OpenDb());
  return RenderReport(*store, run_id, format);
}

}  // namespace

int RunReport(int argc, char* const* argv) {
  std::string format = "text";
  FlagSet flags("coordinator report [RUN] [flags]",
                "Prints the report of a run, by default the latest.");
  flags.String("format", &format, "text, json, csv or md");
  const auto call = ParseReadingCall("report", flags, argc, argv);
  if (!call.ok()) return FailVerb("report", call.status());
  if (call->help) return kExitPass;
  const auto report = ReadReport(*call, format);
  if (!report.ok()) return FailVerb("report", report.status());
  return PrintAll("report", *report);
}

}  // namespace benchfleet
