// How far an agent's CLOCK_MONOTONIC is from ours. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace benchfleet {

// One question and its answer (RFC 5905's four timestamps).
struct ClockExchange {
  int64_t asked_ns = 0;     // ours
  int64_t received_ns = 0;  // the agent's
  int64_t answered_ns = 0;  // the agent's
  int64_t heard_ns = 0;     // ours
};

struct ClockSample {
  // our time = the agent's time + offset, within +- bound.
  int64_t offset_ns = 0;
  int64_t bound_ns = 0;
};

ClockSample SampleOf(const ClockExchange& exchange);

// The exchange with the shortest round trip, which errs least. Absent if none.
std::optional<ClockSample> BestSample(
    absl::Span<const ClockExchange> exchanges);

// The better of two, for samples taken before and after an attempt.
ClockSample Better(const ClockSample& a, const ClockSample& b);

}  // namespace benchfleet
