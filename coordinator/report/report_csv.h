// One line per counted round (RFC 4180). Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/report/report_model.h"

namespace benchfleet {

// Columns: run_id, those of the JSON report's rows, then the extras. An absent
// figure is an empty cell.
std::string ReportCsv(const ReportModel& model);

// A text cell, quoted if need be. What a spreadsheet would take for a formula
// (=, +, -, @ or a control character in front) gets an apostrophe.
std::string CsvText(absl::string_view text);

}  // namespace benchfleet
