// The coordinator's way to one agent.
#pragma once

#include "benchfleet/v1/fleet.pb.h"

namespace benchfleet {

// Thread-safe. Neither call waits for the agent.
class AgentLink {
 public:
  virtual ~AgentLink() = default;
  // Queued; an agent that does not read is closed.
  virtual void Send(const v1::CoordinatorMessage& message) = 0;
  // Has one clock sample taken; it comes back as an event.
  virtual void ProbeClock() = 0;
  // Ends the stream. The agent is reported lost soon after.
  virtual void Close() = 0;
};

}  // namespace benchfleet
