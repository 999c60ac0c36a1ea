// Drives one attempt over its agents: feeds run_state with what happens and
// carries out what it says.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"
#include "coordinator/run/agent_pool.h"
#include "coordinator/run/fleet_event.h"
#include "coordinator/run/run_state.h"
#include "coordinator/run/ticket_pool.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

struct AttemptOrder {
  v1::AttemptRef attempt;
  // Equal for all but the concurrency.
  v1::ShareSpec share;
  std::vector<PooledAgent> agents;
  std::vector<uint32_t> concurrency;  // per agent, each > 0
  uint32_t requests = 0;
  // Only prepare: checks the engine from each agent.
  bool check_only = false;
};

// As they stand before the attempt; in order of the agents.
std::vector<ShareRow> SharesOf(const AttemptOrder& order);

struct AttemptProgress {
  uint64_t completed = 0, failed = 0, output_tokens = 0;
  absl::Duration elapsed;  // since T0
};

struct AttemptEnd {
  StopCause cause = StopCause::kNone;
  v1::ShareRefused::Reason refusal = v1::ShareRefused::REASON_UNSPECIFIED;
  std::string reason;
  std::vector<ShareRow> shares;
};

// Lives on the runner's thread, for one attempt.
class AttemptRunner {
 public:
  AttemptRunner(AttemptOrder order, AgentPool& pool, FleetEvents& events,
                const Clock& clock, std::function<bool()> cancelled,
                std::function<void(const AttemptProgress&)> on_progress);

  // Takes events from the queue until the attempt is over.
  AttemptEnd Run();

 private:
  void Feed(AttemptEvent event);
  void Do(AttemptAction action);
  void Handle(const FleetEvent& event);
  void HandleSaid(const AgentSaid& said);
  void GiveTickets(const std::string& agent_id, const v1::TicketRequest& ask);
  void ReportProgress();
  void SendPrepare();
  void SendArm();
  void SendStop();
  void CheckDeadline();
  v1::Tickets Draw(uint32_t idle_slots, uint32_t want);
  // By the stream that this attempt began with.
  bool StillThere(const std::string& agent_id) const;
  ShareRow* FindShare(const std::string& agent_id);

  const AttemptOrder order_;
  AgentPool& pool_;
  FleetEvents& events_;
  const Clock& clock_;
  const std::function<bool()> cancelled_;
  const std::function<void(const AttemptProgress&)> on_progress_;

  TicketPool tickets_;
  AttemptState state_;
  Instant phase_began_;
  Instant t0_;
  std::vector<ShareRow> shares_;  // as order_.agents
  std::map<std::string, v1::ShareProgress> progress_;
};

}  // namespace benchfleet
