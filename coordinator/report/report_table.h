// The comparison that text and Markdown show: per case the engines side by
// side. The run's first engine is the base of all ratios; a case that it did
// not measure has none. Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/report/report_model.h"

namespace benchfleet {

struct TableCell {
  std::string figures;  // "114.7 [114.6-114.7]"; "-" without a value
  std::string ratio;    // "1.03x" of the base's median; empty for the base
};

struct TableLine {
  std::string metric;  // "output tok/s"
  std::vector<TableCell> cells;
};

// Engines that measured the case, in the run's order.
struct CaseTable {
  std::string case_id;
  std::string shape;  // "128 in, 64 out, concurrency 4, 3 rounds"
  std::vector<std::string> engines;
  std::vector<TableLine> lines;
};

std::vector<CaseTable> CompareEngines(const ReportModel& model);

}  // namespace benchfleet
