// Was the attempt a fair measurement? Every rule is stored with its value and
// threshold. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

struct ValidityLimits {
  // Spread of the agents' first sends on the coordinator's timeline.
  double start_skew_ms = 50;
  // Longest time that an agent's load loop stood still.
  double client_stall_ms = 100;
  // CPU of an agent's load-loop thread, as a share of one core.
  double loop_cpu_share = 0.8;
  // Content chunks beyond the first of their read, of those that could be.
  double coalesced_share = 0.5;
};

// Spread of first sends on the coordinator's timeline; 0 for one agent.
int64_t StartSkewNs(absl::Span<const ShareRow> shares);

std::vector<RuleRow> JudgeAttempt(const AttemptRow& attempt,
                                  absl::Span<const ShareRow> shares,
                                  absl::Span<const StoredTiming> timings,
                                  const ValidityLimits& limits);

// Broken rules in words, with value, threshold and agent; empty if all hold.
std::string BrokenRules(absl::Span<const RuleRow> rules);

}  // namespace benchfleet
