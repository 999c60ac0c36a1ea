// The report as Markdown tables. Pure.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace benchfleet {

std::string ReportMarkdown(const ReportModel& model);

}  // namespace benchfleet
