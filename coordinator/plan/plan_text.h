// A plan as people read it: what will run, in which order, on whom.
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "coordinator/plan/plan.h"

namespace benchfleet {

// With a column for each of `agent_counts`: how the concurrency of a case
// falls on that many equal agents.
std::string PlanText(const Plan& plan, absl::Span<const uint32_t> agent_counts);

}  // namespace benchfleet
