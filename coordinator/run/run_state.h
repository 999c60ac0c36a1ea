// The life of one attempt over its agents, as a pure function:
// (state, event) -> (state, actions).
//
//   preparing -> probing -> arming -> running -> closing -> over
//        \__________\__________\_________\-> stopping --------^
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchfleet/v1/fleet.pb.h"

namespace benchfleet {

enum class AttemptPhase {
  kPreparing,  // agents get ready
  kProbing,    // clocks are compared, for the start
  kArming,     // T0 is sent, agents confirm it
  kRunning,
  kStopping,  // something went wrong: agents cut their load and report
  kClosing,   // clocks are compared again
  kOver,
};

// Why an attempt ended early, and so what the run does next.
enum class StopCause {
  kNone,
  kAgentLost,  // try again with those that are left
  kRefused,    // an agent could not do its share
  kCancelled,  // the operator's wish
  kStoreFailed,
  kTooSlow,  // a phase passed its limit
};

struct AgentPart {
  bool prepared = false, probed = false, armed = false, reported = false,
       lost = false, closed = false;
};

struct AttemptState {
  AttemptPhase phase = AttemptPhase::kPreparing;
  std::map<std::string, AgentPart> agents;
  StopCause cause = StopCause::kNone;
  v1::ShareRefused::Reason refusal = v1::ShareRefused::REASON_UNSPECIFIED;
  // For people; names the agent. The first cause stands.
  std::string reason;
  // Stop once prepared: nothing is to be loaded.
  bool check_only = false;
};

struct AttemptEvent {
  enum class Kind {
    kPrepared,
    kProbed,
    kArmed,
    kFinished,
    kRefused,
    kLost,
    kCancel,
    kStoreFailed,
    kPhaseTimedOut,
  };
  Kind kind;
  std::string agent = {};  // of the first six
  v1::ShareRefused::Reason refusal = v1::ShareRefused::REASON_UNSPECIFIED;
  std::string message = {};
};

enum class AttemptAction {
  kProbeClocks,  // of all agents that are not lost
  kArm,
  kStopShares,  // of all agents that have not reported
  kProbeAgain,
  kFinish,  // once, last
};

struct AttemptStep {
  AttemptState state;
  std::vector<AttemptAction> actions;
};

AttemptState BeginAttemptState(const std::vector<std::string>& agents,
                               bool check_only);

// Events of unknown agents, and those that come too late, change nothing.
AttemptStep Advance(AttemptState state, const AttemptEvent& event);

}  // namespace benchfleet
