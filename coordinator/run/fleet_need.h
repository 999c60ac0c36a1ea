// What a run needs of the fleet before it may load anything. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/plan/plan.h"
#include "coordinator/run/agent_pool.h"

namespace benchfleet {

struct FleetNeed {
  uint32_t min_agents = 1;
  // The largest of the plan, and its case.
  uint32_t concurrency = 1;
  std::string case_id;
};

FleetNeed NeedOf(const Plan& plan, uint32_t min_agents);

struct FleetLack {
  std::string text;  // with numbers; empty: nothing is missing
  // Without it no round can run; else there are only fewer agents than wished.
  bool hard = false;
};

FleetLack LackOf(const FleetNeed& need, const std::vector<PooledAgent>& agents);

}  // namespace benchfleet
