// Watches the load loop itself: was the client ever the bottleneck?
#pragma once

#include <cstdint>
#include <vector>

#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"

namespace benchfleet {

// Lives on the load loop's thread; Begin and Evidence read that thread's own
// CPU and scheduler accounts.
class LoopWatch {
 public:
  void Begin(Instant now);
  // Around each Poll: it was to return at `until` at the latest.
  void PollReturned(Instant until, Instant now);
  void TurnEnded(Instant turn_began, Instant now);
  void SlotTurnaround(int64_t ns) { turnarounds_ns_.push_back(ns); }
  v1::ShareEvidence Evidence(Instant now);

 private:
  Instant began_;
  int64_t cpu_at_start_ns_ = 0;
  int64_t run_delay_at_start_ns_ = 0;
  int64_t longest_turn_ns_ = 0;
  int64_t longest_stall_ns_ = 0;
  std::vector<int64_t> turnarounds_ns_;
};

}  // namespace benchfleet
