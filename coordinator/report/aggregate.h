// Median and range of each metric over a case's counted rounds. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// A counted round and what it came to.
struct CountedRound {
  RoundRow round;
  RoundResult result;
};

// All absent, or none.
struct MetricAggregate {
  std::optional<double> median, min, max;
};

struct CaseAggregate {
  uint32_t engine = 0, case_index = 0;
  int64_t rounds = 0;
  int64_t completed = 0, failed = 0;
  // As kRoundMetricNames. Rounds without the metric are left out of it.
  std::array<MetricAggregate, kRoundMetricNames.size()> metrics;
};

// One per (engine, case), in the order of first appearance.
std::vector<CaseAggregate> AggregateRounds(
    absl::Span<const CountedRound> rounds);

}  // namespace benchfleet
