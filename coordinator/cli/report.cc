#include "coordinator/cli/report.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/flags.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/report/report.h"
#include "coordinator/store/sqlite_round_store.h"

namespace benchfleet {

absl::StatusOr<v1::ReportFormat> ParseReportFormat(absl::string_view name) {
  if (name == "text") return v1::REPORT_TEXT;
  if (name == "json") return v1::REPORT_JSON;
  if (name == "csv") return v1::REPORT_CSV;
  if (name == "md") return v1::REPORT_MD;
  return absl::InvalidArgumentError(
      absl::StrCat("--format=", name, ": expected text, json, csv or md"));
}

ReportFromFile ReadReport(const std::string& db_path, int64_t run_id,
                          v1::ReportFormat format) {
  auto store = OpenRoundStoreReadOnly(db_path);
  if (!store.ok()) return {std::move(store).status(), kExitCouldNotRun};
  absl::StatusOr<std::string> text = RenderReport(**store, run_id, format);
  const int exit_code = text.ok()                         ? kExitPass
                        : absl::IsNotFound(text.status()) ? kExitUsage
                                                          : kExitCouldNotRun;
  return {std::move(text), exit_code};
}

int RunReport(int argc, char** argv) {
  std::string db_path = "results.db";
  std::string format_name = "text";
  FlagSet flags("coordinator report [RUN] [flags]",
                "Prints the report of a run, by default the latest.");
  flags.String("db", &db_path, "database file");
  flags.String("format", &format_name, "text, json, csv or md");
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok()) {
    return FailVerb("report", arguments.status(), kExitUsage);
  }
  if (flags.help_asked()) return PrintAll("report", flags.Help());
  if (arguments->size() > 1) {
    return FailVerb("report",
                    absl::InvalidArgumentError("expected at most one RUN"),
                    kExitUsage);
  }
  int64_t run_id = 0;
  if (!arguments->empty()) {
    const auto parsed = ParseRunId((*arguments)[0]);
    if (!parsed.ok()) return FailVerb("report", parsed.status(), kExitUsage);
    run_id = *parsed;
  }
  const auto format = ParseReportFormat(format_name);
  if (!format.ok()) return FailVerb("report", format.status(), kExitUsage);
  const ReportFromFile report = ReadReport(db_path, run_id, *format);
  if (!report.text.ok()) {
    return FailVerb("report", report.text.status(), report.exit_code);
  }
  return PrintAll("report", *report.text);
}

}  // namespace benchfleet
