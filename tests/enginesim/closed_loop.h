// A closed-loop round against the model in virtual time: what a perfect client
// would measure. For fitting profiles and for checking them.
#pragma once

#include <cstdint>

#include "tests/enginesim/profile.h"

namespace benchfleet::enginesim {

struct LoadPoint {
  uint32_t input_tokens = 0;
  uint32_t output_tokens = 0;
  uint32_t concurrency = 0;
  uint32_t requests = 0;
};

// Defined as METRICS.md defines them.
struct Prediction {
  double output_throughput = 0;
  double mean_ttft_ms = 0;
  double p50_ttft_ms = 0;
  double mean_tpot_ms = 0;
  double p50_itl_ms = 0;
  double mean_e2el_ms = 0;
};

// A slot sends its next request turnaround_ms after its last token.
Prediction PredictRound(const Profile& profile, const LoadPoint& load,
                        uint64_t seed, double turnaround_ms);
// The median of each figure over `rounds` rounds with derived seeds.
Prediction PredictMedian(const Profile& profile, const LoadPoint& load,
                         uint64_t seed, int rounds, double turnaround_ms);

}  // namespace benchfleet::enginesim
