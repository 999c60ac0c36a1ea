// The agents that are connected now.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/run/agent_link.h"
#include "coordinator/run/fleet_event.h"

namespace benchfleet {

struct PooledAgent {
  v1::Hello hello;
  std::shared_ptr<AgentLink> link;
};

// Thread-safe.
class AgentPool {
 public:
  AgentPool(const Clock& clock, absl::Duration lease, FleetEvents& events)
      : clock_(clock), lease_(lease), events_(events) {}

  absl::Duration lease() const { return lease_; }

  // AlreadyExists: another agent with this id is connected; names its host.
  // Unavailable: this instance's earlier stream had not ended; it is closed.
  absl::Status Register(const v1::Hello& hello,
                        std::shared_ptr<AgentLink> link);
  // Only this instance; its loss becomes an event.
  void Unregister(const std::string& agent_id, const std::string& instance_id);
  // Lets the runner use the agent: its clock can be probed. False if that
  // instance is not registered.
  bool ClockReady(const std::string& agent_id, const std::string& instance_id);
  // A message came: renews the lease.
  void Heard(const std::string& agent_id);
  // Closes the streams of agents whose lease has lapsed. Call often.
  void CloseLapsed();

  // Usable agents by id. Absent agents have lost their stream.
  std::map<std::string, PooledAgent> Agents() const;
  std::shared_ptr<AgentLink> Link(const std::string& agent_id) const;

 private:
  struct Entry {
    PooledAgent agent;
    Instant heard;
    bool clock_ready = false;
  };

  const Clock& clock_;
  const absl::Duration lease_;
  FleetEvents& events_;
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace benchfleet
