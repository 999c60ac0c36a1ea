#include "coordinator/run/clock_offset.h"

namespace benchfleet {

ClockSample SampleOf(const ClockExchange& e) {
  const int64_t there = e.received_ns - e.asked_ns;
  const int64_t back = e.answered_ns - e.heard_ns;
  // Halves apart: the sum of two offsets of hosts may be large.
  const int64_t agent_ahead = there / 2 + back / 2 + (there % 2 + back % 2) / 2;
  const int64_t round_trip =
      (e.heard_ns - e.asked_ns) - (e.answered_ns - e.received_ns);
  return {.offset_ns = -agent_ahead, .bound_ns = (round_trip + 1) / 2};
}

std::optional<ClockSample> BestSample(
    absl::Span<const ClockExchange> exchanges) {
  std::optional<ClockSample> best;
  for (const ClockExchange& exchange : exchanges) {
    const ClockSample sample = SampleOf(exchange);
    best = best ? Better(*best, sample) : sample;
  }
  return best;
}

ClockSample Better(const ClockSample& a, const ClockSample& b) {
  return b.bound_ns < a.bound_ns ? b : a;
}

}  // namespace benchfleet
