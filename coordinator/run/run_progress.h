// Small pure pieces of a run: what a share asks for, how far the run is.
#pragma once

#include <cstdint>
#include <vector>

#include "benchfleet/v1/control.pb.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/split.h"
#include "coordinator/run/agent_pool.h"

namespace benchfleet {

// Without concurrency and seed, which differ by attempt.
v1::ShareSpec ShareOf(const Plan& plan, const v1::Engine& engine,
                      const PlannedCase& planned);

std::vector<AgentCapacity> Capacities(const std::vector<PooledAgent>& agents);

// How far a run is and how long the rest may take: rounds are weighed by
// requests x output tokens / concurrency, which their time grows with.
class RunPace {
 public:
  RunPace() = default;
  RunPace(const Plan& plan, Instant began);

  void RoundDone(uint32_t index, Instant now);
  // Sets the run's fields of `progress`.
  void Fill(Instant now, v1::RunProgress& progress) const;

 private:
  std::vector<double> weights_;     // per round
  std::vector<uint64_t> requests_;  // per round
  std::vector<bool> done_;
  Instant began_, last_done_;
};

}  // namespace benchfleet
