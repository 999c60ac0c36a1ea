// How a case's concurrency falls on the agents of a fleet that differ in what
// they can take. Pure. See also SplitConcurrency in plan.h.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace benchfleet {

struct AgentCapacity {
  uint32_t weight = 0;           // 0: 1
  uint32_t max_concurrency = 0;  // 0: no limit
};

// As SplitConcurrency, but no agent gets more than its max_concurrency: what
// is over falls on the others by their weights. In the order of `agents`; sums
// to `concurrency`. ResourceExhausted: all of them together cannot take it.
absl::StatusOr<std::vector<uint32_t>> SplitOverAgents(
    uint32_t concurrency, absl::Span<const AgentCapacity> agents);

}  // namespace benchfleet
