#include "coordinator/run/run_progress.h"

#include <algorithm>

namespace benchfleet {

v1::ShareSpec ShareOf(const Plan& plan, const v1::Engine& engine,
                      const PlannedCase& planned) {
  v1::ShareSpec share;
  *share.mutable_engine() = engine;
  share.set_endpoint(planned.endpoint);
  share.set_prompt_format(ResolvePromptFormat(engine, planned));
  share.set_input_tokens(planned.input_tokens);
  share.set_output_tokens(planned.output_tokens);
  share.set_include_usage(planned.include_usage);
  *share.mutable_timeouts() = plan.suite.timeouts();
  share.set_check_model(!engine.skip_model_check());
  return share;
}

std::vector<AgentCapacity> Capacities(const std::vector<PooledAgent>& agents) {
  std::vector<AgentCapacity> capacities;
  for (const PooledAgent& agent : agents) {
    capacities.push_back({.weight = std::max(agent.hello.weight(), 1u),
                          .max_concurrency = agent.hello.max_concurrency()});
  }
  return capacities;
}

RunPace::RunPace(const Plan& plan, Instant began)
    : done_(plan.rounds.size()), began_(began), last_done_(began) {
  for (const PlannedRound& round : plan.rounds) {
    const PlannedCase& planned = plan.cases[round.case_index];
    weights_.push_back(double{1} * planned.requests * planned.output_tokens /
                       std::max(planned.concurrency, 1u));
    requests_.push_back(planned.requests);
  }
}

void RunPace::RoundDone(uint32_t index, Instant now) {
  if (index < done_.size()) done_[index] = true;
  last_done_ = now;
}

void RunPace::Fill(Instant now, v1::RunProgress& progress) const {
  double weight_done = 0, weight_left = 0;
  uint64_t requests_done = 0;
  uint32_t rounds_done = 0;
  for (size_t i = 0; i < done_.size(); ++i) {
    (done_[i] ? weight_done : weight_left) += weights_[i];
    if (!done_[i]) continue;
    requests_done += requests_[i];
    ++rounds_done;
  }
  progress.set_rounds_done(rounds_done);
  progress.set_run_requests_done(requests_done);
  progress.set_run_elapsed_ns(static_cast<uint64_t>(now.ns - began_.ns));
  progress.set_eta_ns(0);
  if (weight_done <= 0) return;
  const double per_weight =
      static_cast<double>(last_done_.ns - began_.ns) / weight_done;
  const double left =
      per_weight * weight_left - static_cast<double>(now.ns - last_done_.ns);
  progress.set_eta_ns(static_cast<uint64_t>(std::max(left, 1.0)));
}

}  // namespace benchfleet
