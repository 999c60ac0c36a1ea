#include "coordinator/run/fleet_need.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/plan/split.h"
#include "coordinator/run/run_progress.h"

namespace benchfleet {

FleetNeed NeedOf(const Plan& plan, uint32_t min_agents) {
  FleetNeed need;
  need.min_agents = std::max(min_agents, 1u);
  for (const PlannedCase& planned : plan.cases) {
    if (planned.concurrency <= need.concurrency && !need.case_id.empty()) {
      continue;
    }
    need.concurrency = planned.concurrency;
    need.case_id = planned.id;
  }
  return need;
}

FleetLack LackOf(const FleetNeed& need,
                 const std::vector<PooledAgent>& agents) {
  if (agents.empty()) {
    return {.text = "no agent connected", .hard = true};
  }
  const auto split = SplitOverAgents(need.concurrency, Capacities(agents));
  if (!split.ok()) {
    return {.text = absl::StrCat("case ", need.case_id, ": ",
                                 split.status().message()),
            .hard = true};
  }
  if (agents.size() < need.min_agents) {
    return {.text = absl::StrCat(agents.size(), " of ", need.min_agents,
                                 " connected")};
  }
  return {};
}

}  // namespace benchfleet
