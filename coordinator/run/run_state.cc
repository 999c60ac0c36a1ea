#include "coordinator/run/run_state.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

using Kind = AttemptEvent::Kind;

bool All(const AttemptState& state, bool AgentPart::*done) {
  for (const auto& [agent, part] : state.agents) {
    if (!part.lost && !(part.*done)) return false;
  }
  return true;
}

bool Before(const AttemptState& state, AttemptPhase phase) {
  return state.phase < phase;
}

void Close(AttemptStep& step) {
  step.state.phase = AttemptPhase::kClosing;
  step.actions.push_back(AttemptAction::kProbeAgain);
}

void Finish(AttemptStep& step) {
  step.state.phase = AttemptPhase::kOver;
  step.actions.push_back(AttemptAction::kFinish);
}

void Stop(AttemptStep& step, StopCause cause, std::string reason,
          v1::ShareRefused::Reason refusal = {}) {
  if (!Before(step.state, AttemptPhase::kStopping)) return;
  step.state.cause = cause;
  step.state.reason = std::move(reason);
  step.state.refusal = refusal;
  step.state.phase = AttemptPhase::kStopping;
  step.actions.push_back(AttemptAction::kStopShares);
}

// Goes on to the next phase if the last one is complete.
void Proceed(AttemptStep& step) {
  AttemptState& state = step.state;
  switch (state.phase) {
    case AttemptPhase::kPreparing:
      if (!All(state, &AgentPart::prepared)) return;
      if (state.check_only) {
        state.phase = AttemptPhase::kStopping;
        step.actions.push_back(AttemptAction::kStopShares);
        return;
      }
      state.phase = AttemptPhase::kProbing;
      step.actions.push_back(AttemptAction::kProbeClocks);
      return;
    case AttemptPhase::kProbing:
      if (!All(state, &AgentPart::probed)) return;
      state.phase = AttemptPhase::kArming;
      step.actions.push_back(AttemptAction::kArm);
      return;
    case AttemptPhase::kArming:
      if (All(state, &AgentPart::armed)) state.phase = AttemptPhase::kRunning;
      if (state.phase == AttemptPhase::kRunning) Proceed(step);
      return;
    case AttemptPhase::kRunning:
      if (All(state, &AgentPart::reported)) Close(step);
      return;
    case AttemptPhase::kStopping:
      if (All(state, &AgentPart::reported)) Finish(step);
      return;
    case AttemptPhase::kClosing:
      if (All(state, &AgentPart::closed)) Finish(step);
      return;
    case AttemptPhase::kOver:
      return;
  }
}

void OnLost(AttemptStep& step, const std::string& agent, AgentPart& part) {
  part.lost = true;
  // All its timings are in: only its second clock sample is missing.
  if (step.state.phase == AttemptPhase::kClosing) return;
  Stop(step, StopCause::kAgentLost, absl::StrCat("agent_lost: ", agent));
}

// Of one agent that takes part.
void OnAgentEvent(AttemptStep& step, const AttemptEvent& event,
                  AgentPart& part) {
  switch (event.kind) {
    case Kind::kPrepared:
      part.prepared = true;
      break;
    case Kind::kProbed:
      (step.state.phase == AttemptPhase::kClosing ? part.closed : part.probed) =
          true;
      break;
    case Kind::kArmed:
      part.armed = true;
      break;
    case Kind::kFinished:
      part.reported = true;
      break;
    case Kind::kRefused:
      part.reported = true;
      Stop(step, StopCause::kRefused,
           absl::StrCat("agent ", event.agent, ": ", event.message),
           event.refusal);
      break;
    default:
      OnLost(step, event.agent, part);
  }
}

void OnTimeout(AttemptStep& step, const std::string& limit) {
  if (Before(step.state, AttemptPhase::kStopping)) {
    Stop(step, StopCause::kTooSlow, absl::StrCat("agents took over ", limit));
    return;
  }
  // Those that do not answer now are not waited for.
  Finish(step);
}

}  // namespace

AttemptState BeginAttemptState(const std::vector<std::string>& agents,
                               bool check_only) {
  AttemptState state;
  state.check_only = check_only;
  for (const std::string& agent : agents) state.agents[agent];
  return state;
}

AttemptStep Advance(AttemptState state, const AttemptEvent& event) {
  AttemptStep step{std::move(state), {}};
  if (step.state.phase == AttemptPhase::kOver) return step;
  switch (event.kind) {
    case Kind::kCancel:
      Stop(step, StopCause::kCancelled, "cancelled");
      break;
    case Kind::kStoreFailed:
      Stop(step, StopCause::kStoreFailed, event.message);
      break;
    case Kind::kPhaseTimedOut:
      OnTimeout(step, event.message);
      break;
    default: {
      const auto part = step.state.agents.find(event.agent);
      if (part == step.state.agents.end() || part->second.lost) return step;
      OnAgentEvent(step, event, part->second);
    }
  }
  Proceed(step);
  return step;
}

}  // namespace benchfleet
