#include "coordinator/run/runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/plan/split.h"
#include "coordinator/run/fleet_need.h"
#include "coordinator/run/run_progress.h"

namespace benchfleet {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
// Of one engine, each lost with an agent.
constexpr int kMostChecks = 10;

}  // namespace

Runner::Runner(uint64_t epoch, Ingest& ingest, AgentPool& pool,
               FleetEvents& events, RunBoard& board, const Clock& clock,
               Scoring scoring)
    : epoch_(epoch),
      ingest_(ingest),
      pool_(pool),
      events_(events),
      board_(board),
      clock_(clock),
      scoring_(std::move(scoring)),
      thread_([this] { Loop(); }) {}

Runner::~Runner() { Stop(); }

void Runner::Stop() {
  stopping_ = true;
  events_.TryPush(Nudge());
  if (thread_.joinable()) thread_.join();
}

void Runner::Queue(QueuedRun run) {
  MutexLock lock(mutex_);
  const size_t before = queue_.size() + (executing_ ? 1 : 0);
  board_.Update(run.run_id, [&](v1::RunProgress& progress) {
    progress.set_suite_name(run.plan.suite.name());
    progress.set_state(v1::QUEUED);
    progress.set_rounds_total(static_cast<uint32_t>(run.plan.rounds.size()));
    progress.set_run_requests_total(run.plan.TotalRequests());
    if (before > 0) progress.set_waiting_for("the runs before it");
  });
  queue_.push_back(std::move(run));
  events_.TryPush(Nudge());
}

void Runner::Cancel(int64_t run_id) {
  std::optional<QueuedRun> queued;
  {
    MutexLock lock(mutex_);
    cancelled_.insert(run_id);
    const auto found = std::find_if(
        queue_.begin(), queue_.end(),
        [&](const QueuedRun& run) { return run.run_id == run_id; });
    if (found != queue_.end()) {
      queued = std::move(*found);
      queue_.erase(found);
    }
  }
  if (queued) {
    Current run{.run = *std::move(queued), .pace = {}};
    run.pace = RunPace(run.run.plan, clock_.Now());
    EndRun(run, v1::CANCELLED_RUN, "cancelled");
    return;
  }
  events_.TryPush(Nudge());
}

std::string Runner::BusyWith() const {
  MutexLock lock(mutex_);
  return busy_with_;
}

bool Runner::Cancelled(int64_t run_id) const {
  MutexLock lock(mutex_);
  return cancelled_.contains(run_id);
}

void Runner::Loop() {
  while (!stopping_) {
    if (std::optional<QueuedRun> run = NextRun()) {
      Execute(*std::move(run));
      MutexLock lock(mutex_);
      executing_ = false;
    } else {
      events_.Pop(kTick);
    }
  }
}

std::optional<QueuedRun> Runner::NextRun() {
  MutexLock lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  QueuedRun run = std::move(queue_.front());
  queue_.pop_front();
  executing_ = true;
  return run;
}

void Runner::Execute(QueuedRun queued) {
  Current run{.run = std::move(queued), .pace = {}};
  run.pace = RunPace(run.run.plan, clock_.Now());
  if (StopIfAsked(run) == Next::kEndRun) return;
  board_.Update(run.run.run_id, [](v1::RunProgress& progress) {
    progress.set_state(v1::RUNNING);
    progress.clear_waiting_for();
  });
  absl::Status stored = ingest_.Call([&](RoundStore& store) {
    return store.SetRunState(run.run.run_id, v1::RUNNING, "", {},
                             clock_.WallNow());
  });
  if (!stored.ok()) {
    EndRun(run, v1::COULD_NOT_RUN, std::string(stored.message()));
    return;
  }
  const bool all_done = CheckEngines(run) == Next::kGoOn &&
                        RunRounds(run) == Next::kGoOn &&
                        StopIfAsked(run) == Next::kGoOn;
  if (!all_done) return;
  absl::StatusOr<RunEnding> verdict =
      ingest_.Get<RunEnding>([&](RoundStore& store) {
        return scoring_.judge_run(store, run.run.run_id);
      });
  if (verdict.ok()) {
    Finish(run, v1::FINISHED, *std::move(verdict));
  } else {
    EndRun(run, v1::COULD_NOT_RUN, std::string(verdict.status().message()));
  }
}

Runner::Next Runner::StopIfAsked(Current& run) {
  if (Cancelled(run.run.run_id)) {
    return EndRun(run, v1::CANCELLED_RUN, "cancelled");
  }
  return stopping_ ? Next::kEndRun : Next::kGoOn;
}

Runner::Next Runner::WaitForAgents(Current& run,
                                   std::vector<PooledAgent>& agents) {
  const Instant deadline = clock_.Now() + run.run.agent_wait;
  const std::string limit = absl::FormatDuration(run.run.agent_wait);
  std::string shown;
  while (true) {
    if (StopIfAsked(run) == Next::kEndRun) return Next::kEndRun;
    agents.clear();
    for (const auto& [id, agent] : pool_.Agents()) agents.push_back(agent);
    const FleetNeed need = NeedOf(run.run.plan, run.run.min_agents);
    const FleetLack lack = LackOf(need, agents);
    if (lack.text.empty()) break;
    if (clock_.Now() >= deadline) {
      if (lack.hard) {
        return EndRun(run, v1::COULD_NOT_RUN,
                      absl::StrCat(lack.text, " within ", limit,
                                   "; start agents with: agent "
                                   "--coordinator=HOST:PORT"));
      }
      LogWarning("run ", run.run.run_id, " goes on with ", agents.size(),
                 " agents: ", lack.text, " within ", limit);
      run.run.min_agents = static_cast<uint32_t>(agents.size());
      break;
    }
    if (shown != lack.text) {
      shown = lack.text;
      board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
        progress.set_waiting_for(
            absl::StrCat("agents: ", lack.text, "; up to ", limit));
      });
    }
    events_.Pop(kTick);
  }
  if (!shown.empty()) {
    board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
      progress.clear_waiting_for();
    });
  }
  return Next::kGoOn;
}

Runner::Next Runner::CheckEngines(Current& run) {
  const int engines = run.run.plan.suite.engines_size();
  for (int i = 0; i < engines; ++i) {
    if (CheckEngine(run, i) == Next::kEndRun) return Next::kEndRun;
  }
  board_.Update(run.run.run_id, [](v1::RunProgress& progress) {
    progress.clear_waiting_for();
  });
  return Next::kGoOn;
}

Runner::Next Runner::CheckEngine(Current& run, int index) {
  const Plan& plan = run.run.plan;
  std::string reason;
  for (int tried = 0; tried < kMostChecks; ++tried) {
    std::vector<PooledAgent> agents;
    if (WaitForAgents(run, agents) == Next::kEndRun) return Next::kEndRun;
    board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
      progress.set_waiting_for(absl::StrCat(
          "engine ", plan.suite.engines(index).name(), " to be checked"));
    });
    AttemptOrder order;
    order.check_only = true;
    order.attempt.set_epoch(epoch_);
    order.attempt.set_attempt_id(--last_check_id_);  // checks are not stored
    order.share = ShareOf(plan, plan.suite.engines(index), plan.cases.front());
    order.share.set_concurrency(1);
    order.concurrency.assign(agents.size(), 1);
    order.agents = std::move(agents);
    const AttemptEnd end = Drive(run, std::move(order));
    reason = end.reason;
    if (end.cause == StopCause::kAgentLost) continue;  // with those left
    if (end.cause == StopCause::kRefused) break;
    if (end.cause == StopCause::kTooSlow) break;
    return AfterStop(run, end);
  }
  return EndRun(run, v1::COULD_NOT_RUN, reason);
}

Runner::Next Runner::RunRounds(Current& run) {
  absl::StatusOr<std::vector<RoundRow>> rounds =
      ingest_.Get<std::vector<RoundRow>>(
          [&](RoundStore& store) { return store.Rounds(run.run.run_id); });
  if (!rounds.ok()) {
    return EndRun(run, v1::COULD_NOT_RUN,
                  std::string(rounds.status().message()));
  }
  for (const RoundRow& round : *rounds) {
    if (round.state == RoundState::kPending &&
        RunRound(run, round) == Next::kEndRun) {
      return Next::kEndRun;
    }
    run.pace.RoundDone(round.index, clock_.Now());
    board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
      run.pace.Fill(clock_.Now(), progress);
    });
  }
  return Next::kGoOn;
}

Runner::Next Runner::RunRound(Current& run, const RoundRow& round) {
  const absl::StatusOr<std::vector<AttemptRow>> earlier =
      ingest_.Get<std::vector<AttemptRow>>(
          [&](RoundStore& store) { return store.Attempts(round.id); });
  if (!earlier.ok()) {
    return EndRun(run, v1::COULD_NOT_RUN,
                  std::string(earlier.status().message()));
  }
  // Of an earlier life of the coordinator: numbers go on, tries start anew.
  uint32_t last = 0;
  for (const AttemptRow& row : *earlier) last = std::max(last, row.number);
  const uint32_t max_attempts = run.run.plan.suite.max_attempts();
  for (uint32_t tried = 1; tried <= max_attempts; ++tried) {
    bool valid = false;
    const Next next = TryRound(run, round, last + tried, valid);
    if (next == Next::kEndRun || valid) return next;
  }
  const absl::Status stored = ingest_.Call([&](RoundStore& store) {
    return store.SetRoundState(round.id, RoundState::kGivenUp);
  });
  return stored.ok()
             ? Next::kGoOn
             : EndRun(run, v1::COULD_NOT_RUN, std::string(stored.message()));
}

Runner::Next Runner::TryRound(Current& run, const RoundRow& round,
                              uint32_t number, bool& valid) {
  const PlannedCase& planned = run.run.plan.cases[round.case_index];
  std::vector<AttemptKind> kinds = {AttemptKind::kCounted};
  if (planned.warmup_requests > 0) {
    kinds = {AttemptKind::kWarmup, AttemptKind::kCounted};
  }
  for (const AttemptKind kind : kinds) {
    AttemptRow row;
    row.round_id = round.id;
    row.kind = kind;
    row.number = number;
    row.epoch = epoch_;
    row.requests = kind == AttemptKind::kWarmup ? planned.warmup_requests
                                                : planned.requests;
    std::vector<PooledAgent> agents;
    if (WaitForAgents(run, agents) == Next::kEndRun) return Next::kEndRun;
    absl::StatusOr<AttemptEnd> end =
        RunAttempt(run, round, std::move(agents), row);
    if (!end.ok()) {
      return EndRun(run, v1::COULD_NOT_RUN,
                    std::string(end.status().message()));
    }
    if (AfterStop(run, *end) == Next::kEndRun) return Next::kEndRun;
    if (end->cause != StopCause::kNone) return Next::kGoOn;  // try again
    if (kind == AttemptKind::kWarmup) continue;
    if (row.verdict != AttemptVerdict::kValid) return Next::kGoOn;
    const absl::Status scored = ingest_.Call([&](RoundStore& store) {
      RETURN_IF_ERROR(scoring_.score_round(store, run.run.run_id, round, row));
      return store.Checkpoint();
    });
    if (!scored.ok()) {
      return EndRun(run, v1::COULD_NOT_RUN, std::string(scored.message()));
    }
    valid = true;
  }
  return Next::kGoOn;
}

Runner::Next Runner::AfterStop(Current& run, const AttemptEnd& end) {
  switch (end.cause) {
    case StopCause::kCancelled:
      return StopIfAsked(run);
    case StopCause::kStoreFailed:
      return EndRun(run, v1::COULD_NOT_RUN, end.reason);
    default:
      return Next::kGoOn;
  }
}

Runner::Next Runner::EndRun(Current& run, v1::RunState state,
                            std::string reason) {
  Finish(run, state, {.verdict = "", .reasons = {std::move(reason)}});
  return Next::kEndRun;
}

void Runner::Finish(Current& run, v1::RunState state, RunEnding verdict) {
  const absl::Status stored = ingest_.Call([&](RoundStore& store) {
    RETURN_IF_ERROR(store.SetRunState(run.run.run_id, state, verdict.verdict,
                                      verdict.reasons, clock_.WallNow()));
    return store.Checkpoint();
  });
  if (!stored.ok()) LogError("run ", run.run.run_id, ": ", stored.message());
  board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
    run.pace.Fill(clock_.Now(), progress);
    progress.set_state(state);
    progress.set_verdict(verdict.verdict);
    progress.clear_waiting_for();
    progress.clear_reasons();
    for (const std::string& reason : verdict.reasons) {
      progress.add_reasons(reason);
    }
  });
  LogInfo("run ", run.run.run_id, " is over: ",
          verdict.verdict.empty() ? v1::RunState_Name(state) : verdict.verdict);
}

}  // namespace benchfleet
