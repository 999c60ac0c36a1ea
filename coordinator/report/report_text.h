// The report for a terminal: at most 120 columns. Pure.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace benchfleet {

std::string ReportText(const ReportModel& model);

}  // namespace benchfleet
