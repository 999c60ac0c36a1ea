// The interchange format: keys, order and number format of the reference file.
// Pure.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace benchfleet {

// Python's json layout, two blanks, no line feed at the end. Runs measured
// here bear one more key at the end, `benchfleet`. `counted_requests` are the
// completed ones of counted rounds.
std::string ReportJson(const ReportModel& model);

}  // namespace benchfleet
