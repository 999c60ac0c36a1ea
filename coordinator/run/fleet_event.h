// What happens to the fleet, in one queue for the runner.
#pragma once

#include <string>
#include <variant>

#include "absl/status/status.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/bounded_queue.h"
#include "coordinator/run/clock_offset.h"

namespace benchfleet {

struct AgentSaid {
  std::string agent_id;
  v1::AgentMessage message;
};
struct AgentJoined {
  std::string agent_id;
};
struct AgentLost {
  std::string agent_id;
};
struct ClockProbed {
  std::string agent_id;
  ClockSample sample;
};
struct StoreBroke {
  int64_t attempt_id = 0;
  absl::Status status;
};
// Something outside asks the runner to look: a new run, a cancel, the end.
struct Nudge {};

using FleetEvent = std::variant<Nudge, AgentSaid, AgentJoined, AgentLost,
                                ClockProbed, StoreBroke>;
// Full: the threads that read the agents' streams wait.
using FleetEvents = BoundedQueue<FleetEvent>;

}  // namespace benchfleet
