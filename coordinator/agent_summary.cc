#include "coordinator/agent_summary.h"

namespace benchfleet {

v1::AgentSummary SummaryOf(const AgentRow& row) {
  v1::AgentSummary agent;
  agent.set_agent_id(row.agent_id);
  agent.set_hostname(row.host.hostname());
  agent.set_cpus(row.host.cpus());
  agent.set_max_concurrency(row.max_concurrency);
  agent.set_weight(row.weight);
  agent.set_build_id(row.build_id);
  agent.set_last_seen_unix_ns(absl::ToUnixNanos(row.last_seen));
  return agent;
}

}  // namespace benchfleet
