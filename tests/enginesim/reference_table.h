// Measured medians of a real engine, to hold predictions against.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/enginesim/closed_loop.h"

namespace benchfleet::enginesim {

struct ReferenceRow {
  std::string engine;
  std::string case_id;
  LoadPoint load;
  Prediction measured;
};

// Lines of: engine case input output concurrency requests output_throughput
// mean_ttft_ms p50_ttft_ms mean_tpot_ms p50_itl_ms mean_e2el_ms.
absl::StatusOr<std::vector<ReferenceRow>> ParseReferenceTable(
    absl::string_view text);

// One figure of a Prediction, with its name and how much a fit cares.
struct Figure {
  const char* name;
  double Prediction::*field;
  double weight;
};
const std::vector<Figure>& Figures();

// A line of "predicted/measured (+x %)" for each figure.
std::string ComparisonHeader();
std::string ComparisonLine(const ReferenceRow& row,
                           const Prediction& predicted);

}  // namespace benchfleet::enginesim
