#include "coordinator/run/attempt_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "coordinator/plan/utf8.h"

namespace benchfleet {
namespace {

using Kind = AttemptEvent::Kind;

constexpr absl::Duration kTick = absl::Milliseconds(100);
// From sending ARM to T0, beside two of the slowest round trips.
constexpr absl::Duration kStartDelay = absl::Milliseconds(100);

absl::Duration PhaseLimit(AttemptPhase phase) {
  switch (phase) {
    case AttemptPhase::kPreparing:
      return absl::Seconds(120);  // bodies, checks, connections
    case AttemptPhase::kProbing:
    case AttemptPhase::kArming:
      return absl::Seconds(10);
    case AttemptPhase::kStopping:
      return absl::Seconds(15);
    case AttemptPhase::kClosing:
      return absl::Seconds(5);
    case AttemptPhase::kRunning:  // leases and request timeouts bound it
    case AttemptPhase::kOver:
      return absl::InfiniteDuration();
  }
  return absl::InfiniteDuration();
}

const v1::AttemptRef* RefOf(const v1::AgentMessage& message) {
  switch (message.kind_case()) {
    case v1::AgentMessage::kPrepared:
      return &message.prepared().attempt();
    case v1::AgentMessage::kArmed:
      return &message.armed().attempt();
    case v1::AgentMessage::kTicketRequest:
      return &message.ticket_request().attempt();
    case v1::AgentMessage::kProgress:
      return &message.progress().attempt();
    case v1::AgentMessage::kFinished:
      return &message.finished().attempt();
    case v1::AgentMessage::kRefused:
      return &message.refused().attempt();
    default:
      return nullptr;
  }
}

// Reasons go on in proto3 strings, where bad UTF-8 would break the stream.
std::string ReadableText(const std::string& bytes) {
  return IsUtf8(bytes) ? bytes : absl::CHexEscape(bytes);
}

}  // namespace

std::vector<ShareRow> SharesOf(const AttemptOrder& order) {
  std::vector<ShareRow> shares;
  for (size_t i = 0; i < order.agents.size(); ++i) {
    const v1::Hello& hello = order.agents[i].hello;
    shares.push_back({
        .agent_id = hello.agent_id(),
        .instance_id = hello.instance_id(),
        .hostname = hello.host().hostname(),
        .build_id = hello.build_id(),
        .concurrency = order.concurrency[i],
    });
  }
  return shares;
}

AttemptRunner::AttemptRunner(
    AttemptOrder order, AgentPool& pool, FleetEvents& events,
    const Clock& clock, std::function<bool()> cancelled,
    std::function<void(const AttemptProgress&)> on_progress)
    : order_(std::move(order)),
      pool_(pool),
      events_(events),
      clock_(clock),
      cancelled_(std::move(cancelled)),
      on_progress_(std::move(on_progress)),
      tickets_(order_.requests, order_.share.concurrency()),
      shares_(SharesOf(order_)) {
  std::vector<std::string> ids;
  for (const ShareRow& share : shares_) ids.push_back(share.agent_id);
  state_ = BeginAttemptState(ids, order_.check_only);
}

AttemptEnd AttemptRunner::Run() {
  phase_began_ = clock_.Now();
  SendPrepare();
  for (const PooledAgent& agent : order_.agents) {
    // It may have gone before this attempt listened.
    const std::string& id = agent.hello.agent_id();
    if (!StillThere(id)) Feed({.kind = Kind::kLost, .agent = id});
  }
  while (state_.phase != AttemptPhase::kOver) {
    std::optional<FleetEvent> event = events_.Pop(kTick);
    if (event) Handle(*event);
    if (cancelled_()) Feed({.kind = Kind::kCancel});
    CheckDeadline();
  }
  return {state_.cause, state_.refusal, state_.reason, std::move(shares_)};
}

void AttemptRunner::Feed(AttemptEvent event) {
  const AttemptPhase before = state_.phase;
  AttemptStep step = Advance(std::move(state_), event);
  state_ = std::move(step.state);
  if (state_.phase != before) phase_began_ = clock_.Now();
  for (AttemptAction action : step.actions) Do(action);
}

void AttemptRunner::Do(AttemptAction action) {
  switch (action) {
    case AttemptAction::kProbeClocks:
    case AttemptAction::kProbeAgain:
      for (const PooledAgent& agent : order_.agents) agent.link->ProbeClock();
      return;
    case AttemptAction::kArm:
      SendArm();
      return;
    case AttemptAction::kStopShares:
      SendStop();
      return;
    case AttemptAction::kFinish:
      return;  // Run sees the phase
  }
}

void AttemptRunner::Handle(const FleetEvent& event) {
  if (const auto* said = std::get_if<AgentSaid>(&event)) {
    HandleSaid(*said);
  } else if (const auto* lost = std::get_if<AgentLost>(&event)) {
    // The event may be of a stream before the one that this attempt uses.
    if (!StillThere(lost->agent_id)) {
      Feed({.kind = Kind::kLost, .agent = lost->agent_id});
    }
  } else if (const auto* probed = std::get_if<ClockProbed>(&event)) {
    ShareRow* share = FindShare(probed->agent_id);
    if (share == nullptr) return;
    const ClockSample before = {share->clock_offset_ns, share->clock_bound_ns};
    const bool first = state_.phase != AttemptPhase::kClosing;
    const ClockSample best =
        first ? probed->sample : Better(before, probed->sample);
    share->clock_offset_ns = best.offset_ns;
    share->clock_bound_ns = best.bound_ns;
    Feed({.kind = Kind::kProbed, .agent = probed->agent_id});
  } else if (const auto* broke = std::get_if<StoreBroke>(&event)) {
    if (broke->attempt_id != order_.attempt.attempt_id()) return;
    Feed({.kind = Kind::kStoreFailed,
          .message = std::string(broke->status.message())});
  }
}

void AttemptRunner::HandleSaid(const AgentSaid& said) {
  const v1::AttemptRef* ref = RefOf(said.message);
  if (ref == nullptr || ref->epoch() != order_.attempt.epoch() ||
      ref->attempt_id() != order_.attempt.attempt_id()) {
    return;
  }
  ShareRow* share = FindShare(said.agent_id);
  if (share == nullptr) return;
  const v1::AgentMessage& message = said.message;
  if (message.has_prepared()) {
    Feed({.kind = Kind::kPrepared, .agent = said.agent_id});
  } else if (message.has_armed()) {
    Feed({.kind = Kind::kArmed, .agent = said.agent_id});
  } else if (message.has_ticket_request()) {
    GiveTickets(said.agent_id, message.ticket_request());
  } else if (message.has_progress()) {
    progress_[said.agent_id] = message.progress();
    if (state_.phase == AttemptPhase::kRunning) ReportProgress();
  } else if (message.has_finished()) {
    share->manifest = message.finished().manifest();
    share->evidence = message.finished().evidence();
    share->first_sent_ns = message.finished().first_sent_ns();
    Feed({.kind = Kind::kFinished, .agent = said.agent_id});
  } else if (message.has_refused()) {
    Feed({.kind = Kind::kRefused,
          .agent = said.agent_id,
          .refusal = message.refused().reason(),
          .message = ReadableText(message.refused().message())});
  }
}

void AttemptRunner::GiveTickets(const std::string& agent_id,
                                const v1::TicketRequest& ask) {
  if (state_.phase > AttemptPhase::kRunning) return;
  v1::CoordinatorMessage message;
  *message.mutable_tickets() = Draw(ask.idle_slots(), ask.want());
  if (auto link = pool_.Link(agent_id)) link->Send(message);
}

v1::Tickets AttemptRunner::Draw(uint32_t idle_slots, uint32_t want) {
  v1::Tickets tickets;
  *tickets.mutable_attempt() = order_.attempt;
  for (uint32_t ordinal : tickets_.Draw(idle_slots, want)) {
    tickets.add_ordinals(ordinal);
  }
  tickets.set_exhausted(tickets_.exhausted());
  tickets.set_running_low(tickets_.running_low());
  return tickets;
}

void AttemptRunner::ReportProgress() {
  AttemptProgress sum;
  for (const auto& [agent, progress] : progress_) {
    sum.completed += progress.completed();
    sum.failed += progress.failed();
    sum.output_tokens += progress.output_tokens();
  }
  sum.elapsed = std::max(clock_.Now() - t0_, absl::ZeroDuration());
  on_progress_(sum);
}

void AttemptRunner::SendPrepare() {
  // A first ticket for every slot before any second one.
  std::vector<v1::Tickets> first;
  for (uint32_t slots : order_.concurrency) first.push_back(Draw(slots, slots));
  for (size_t i = 0; i < order_.agents.size(); ++i) {
    v1::CoordinatorMessage message;
    v1::Prepare& prepare = *message.mutable_prepare();
    *prepare.mutable_attempt() = order_.attempt;
    *prepare.mutable_share() = order_.share;
    prepare.mutable_share()->set_concurrency(order_.concurrency[i]);
    *prepare.mutable_tickets() = first[i];
    order_.agents[i].link->Send(message);
  }
}

void AttemptRunner::SendArm() {
  int64_t slowest_ns = 0;  // half a round trip
  for (const ShareRow& share : shares_) {
    slowest_ns = std::max(slowest_ns, share.clock_bound_ns);
  }
  t0_ = clock_.Now() + kStartDelay + 4 * absl::Nanoseconds(slowest_ns);
  for (size_t i = 0; i < order_.agents.size(); ++i) {
    shares_[i].t0_ns = t0_.ns - shares_[i].clock_offset_ns;
    v1::CoordinatorMessage message;
    *message.mutable_arm()->mutable_attempt() = order_.attempt;
    message.mutable_arm()->set_t0_ns(shares_[i].t0_ns);
    order_.agents[i].link->Send(message);
  }
}

void AttemptRunner::SendStop() {
  for (const PooledAgent& agent : order_.agents) {
    const AgentPart& part = state_.agents[agent.hello.agent_id()];
    if (part.lost || part.reported) continue;
    v1::CoordinatorMessage message;
    *message.mutable_stop()->mutable_attempt() = order_.attempt;
    message.mutable_stop()->set_reason(order_.check_only ? "check is over"
                                                         : state_.reason);
    agent.link->Send(message);
  }
}

void AttemptRunner::CheckDeadline() {
  const absl::Duration limit = PhaseLimit(state_.phase);
  if (clock_.Now() - phase_began_ <= limit) return;
  std::string late;
  for (const auto& [agent, part] : state_.agents) {
    const bool answered = state_.phase == AttemptPhase::kPreparing
                              ? part.prepared
                          : state_.phase == AttemptPhase::kProbing ? part.probed
                                                                   : part.armed;
    if (!answered) absl::StrAppend(&late, " ", agent);
  }
  Feed({.kind = Kind::kPhaseTimedOut,
        .message =
            absl::StrCat(absl::FormatDuration(limit), " to get ready:", late)});
}

bool AttemptRunner::StillThere(const std::string& agent_id) const {
  for (const PooledAgent& agent : order_.agents) {
    if (agent.hello.agent_id() == agent_id) {
      return pool_.Link(agent_id) == agent.link;
    }
  }
  return false;
}

ShareRow* AttemptRunner::FindShare(const std::string& agent_id) {
  for (ShareRow& share : shares_) {
    if (share.agent_id == agent_id) return &share;
  }
  return nullptr;
}

}  // namespace benchfleet
