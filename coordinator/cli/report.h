// coordinator report [RUN]: a run's report on stdout.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchfleet/v1/control.pb.h"

namespace benchfleet {

// 0 printed (whatever the run's verdict), 2 usage or no such run, 3 the
// database cannot be read.
int RunReport(int argc, char** argv);

// text, json, csv or md.
absl::StatusOr<v1::ReportFormat> ParseReportFormat(absl::string_view name);

// A report or the error, and the exit code that tells whose fault it is.
struct ReportFromFile {
  absl::StatusOr<std::string> text;
  int exit_code = 0;
};
// run_id 0: the latest.
ReportFromFile ReadReport(const std::string& db_path, int64_t run_id,
                          v1::ReportFormat format);

}  // namespace benchfleet
