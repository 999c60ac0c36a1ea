// Words of the reports for attempts and the notes all readable reports end
// with. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/report/report_model.h"

namespace benchfleet {

absl::string_view KindText(AttemptKind kind);           // COUNTED, WARMUP
absl::string_view VerdictText(AttemptVerdict verdict);  // VALID, INVALID, ...

// "PASS" or "FAIL", then what was counted.
std::string StatusLine(const ReportModel& model);

// Reasons, excluded attempts and warnings, a line each; bounded.
std::vector<std::string> ReportNotes(const ReportModel& model);

}  // namespace benchfleet
