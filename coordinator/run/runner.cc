#include "coordinator/run/runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/plan/split.h"
#include "coordinator/run/run_progress.h"

namespace benchfleet {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);

}  // namespace

struct Runner::Current {
  QueuedRun run;
  RunPace pace;
  // Of the attempt that runs now, for the progress.
  uint64_t attempt_requests = 0;
};

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

Runner::~Runner() {
  stopping_ = true;
  events_.TryPush(Nudge());
  thread_.join();
}

void Runner::Queue(QueuedRun run) {
  board_.Update(run.run_id, [&](v1::RunProgress& progress) {
    progress.set_suite_name(run.plan.suite.name());
    progress.set_state(v1::QUEUED);
    progress.set_rounds_total(static_cast<uint32_t>(run.plan.rounds.size()));
    progress.set_run_requests_total(run.plan.TotalRequests());
    progress.set_waiting_for("the runs before it");
  });
  {
    MutexLock lock(mutex_);
    queue_.push_back(std::move(run));
  }
  events_.TryPush(Nudge());
}

void Runner::Cancel(int64_t run_id) {
  {
    MutexLock lock(mutex_);
    cancelled_.insert(run_id);
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
  return run;
}

void Runner::Execute(QueuedRun queued) {
  Current run{.run = std::move(queued), .pace = {}};
  run.pace = RunPace(run.run.plan, clock_.Now());
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
  const bool all_done =
      WaitForAgents(run) == Next::kGoOn && CheckCapacity(run) == Next::kGoOn &&
      CheckEngines(run) == Next::kGoOn && RunRounds(run) == Next::kGoOn;
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

Runner::Next Runner::WaitForAgents(Current& run) {
  const Instant deadline = clock_.Now() + run.run.agent_wait;
  const auto connected = [&] { return pool_.Agents().size(); };
  bool waited = false;
  while (connected() < std::max(run.run.min_agents, 1u)) {
    if (stopping_) return Next::kEndRun;
    if (Cancelled(run.run.run_id)) {
      return EndRun(run, v1::CANCELLED_RUN, "cancelled");
    }
    if (clock_.Now() >= deadline) {
      if (connected() > 0) break;  // goes on with those there are
      return EndRun(
          run, v1::COULD_NOT_RUN,
          absl::StrCat("no agent connected within ",
                       absl::FormatDuration(run.run.agent_wait),
                       "; start one with: agent --coordinator=HOST:PORT"));
    }
    if (!waited) {
      waited = true;
      board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
        progress.set_waiting_for(absl::StrCat(
            "agents: ", connected(), " of ", std::max(run.run.min_agents, 1u),
            " connected, up to ", absl::FormatDuration(run.run.agent_wait)));
      });
    }
    events_.Pop(kTick);
  }
  board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
    progress.clear_waiting_for();
  });
  return Next::kGoOn;
}

Runner::Next Runner::CheckCapacity(Current& run) {
  std::vector<PooledAgent> agents;
  for (const auto& [id, agent] : pool_.Agents()) agents.push_back(agent);
  for (const PlannedCase& planned : run.run.plan.cases) {
    const auto split = SplitOverAgents(planned.concurrency, Capacities(agents));
    if (!split.ok()) {
      return EndRun(
          run, v1::COULD_NOT_RUN,
          absl::StrCat("case ", planned.id, ": ", split.status().message()));
    }
  }
  return Next::kGoOn;
}

Runner::Next Runner::CheckEngines(Current& run) {
  const Plan& plan = run.run.plan;
  for (int i = 0; i < plan.suite.engines_size(); ++i) {
    board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
      progress.set_waiting_for(absl::StrCat(
          "engine ", plan.suite.engines(i).name(), " to be checked"));
    });
    AttemptOrder order;
    order.check_only = true;
    order.attempt.set_epoch(epoch_);
    order.attempt.set_attempt_id(-1 - i);  // checks are not stored
    order.share = ShareOf(plan, plan.suite.engines(i), plan.cases.front());
    order.share.set_concurrency(1);
    for (const auto& [id, agent] : pool_.Agents()) {
      order.agents.push_back(agent);
      order.concurrency.push_back(1);
    }
    const AttemptEnd end = Drive(run, std::move(order));
    if (end.cause == StopCause::kRefused) {
      return EndRun(run, v1::COULD_NOT_RUN, end.reason);
    }
    if (AfterStop(run, end) == Next::kEndRun) return Next::kEndRun;
  }
  board_.Update(run.run.run_id, [](v1::RunProgress& progress) {
    progress.clear_waiting_for();
  });
  return Next::kGoOn;
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
    absl::StatusOr<AttemptEnd> end = RunAttempt(run, round, row);
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

absl::StatusOr<AttemptEnd> Runner::RunAttempt(Current& run,
                                              const RoundRow& round,
                                              AttemptRow& row) {
  if (WaitForAgents(run) == Next::kEndRun) {
    return absl::CancelledError("the run ended while it waited for agents");
  }
  const PlannedCase& planned = run.run.plan.cases[round.case_index];
  std::vector<PooledAgent> agents;
  for (const auto& [id, agent] : pool_.Agents()) agents.push_back(agent);
  // A warm-up of few requests needs no more slots than requests.
  const uint32_t concurrency = std::min(planned.concurrency, row.requests);
  ASSIGN_OR_RETURN(const std::vector<uint32_t> split,
                   SplitOverAgents(concurrency, Capacities(agents)));
  AttemptOrder order;
  std::vector<ShareRow> shares;
  for (size_t i = 0; i < agents.size(); ++i) {
    if (split[i] == 0) continue;
    order.agents.push_back(agents[i]);
    order.concurrency.push_back(split[i]);
    const v1::Hello& hello = agents[i].hello;
    shares.push_back({
        .agent_id = hello.agent_id(),
        .instance_id = hello.instance_id(),
        .hostname = hello.host().hostname(),
        .build_id = hello.build_id(),
        .concurrency = split[i],
    });
  }
  row.started = clock_.WallNow();
  ASSIGN_OR_RETURN(row.id, ingest_.Get<int64_t>([&](RoundStore& store) {
    return store.BeginAttempt(row, shares);
  }));
  order.attempt.set_epoch(epoch_);
  order.attempt.set_attempt_id(row.id);
  order.requests = row.requests;
  order.share = ShareOf(
      run.run.plan, run.run.plan.suite.engines(static_cast<int>(round.engine)),
      planned);
  order.share.set_concurrency(concurrency);
  order.share.set_request_seed(row.kind == AttemptKind::kWarmup
                                   ? round.warmup_seed
                                   : round.request_seed);
  PostAttempt(run, round, row);
  AttemptEnd end = Drive(run, std::move(order));
  if (end.cause == StopCause::kCancelled && !Cancelled(run.run.run_id)) {
    end.reason = "coordinator_restart";  // this process stops, the run goes on
  }
  RETURN_IF_ERROR(CloseAttempt(row, end));
  if (!row.reason.empty()) {
    LogWarning("run ", run.run.run_id, ", attempt ", row.id, ": ", row.reason);
  }
  return end;
}

absl::Status Runner::CloseAttempt(AttemptRow& row, AttemptEnd& end) {
  row.finished = clock_.WallNow();
  row.start_skew_ns = StartSkewNs(end.shares);
  return ingest_.Call([&](RoundStore& store) -> absl::Status {
    std::vector<RuleRow> rules;
    if (end.cause != StopCause::kNone) {
      row.verdict = AttemptVerdict::kAborted;
      row.reason = end.reason;
    } else {
      ASSIGN_OR_RETURN(const std::vector<StoredTiming> timings,
                       store.Timings(row.id));
      rules = JudgeAttempt(row, end.shares, timings, limits_);
      row.reason = BrokenRules(rules);
      row.verdict = row.reason.empty() ? AttemptVerdict::kValid
                                       : AttemptVerdict::kInvalid;
    }
    return store.FinishAttempt(row, end.shares, rules);
  });
}

AttemptEnd Runner::Drive(Current& run, AttemptOrder order) {
  const int64_t run_id = run.run.run_id;
  {
    MutexLock lock(mutex_);
    busy_with_ = absl::StrCat("run ", run_id);
  }
  AttemptRunner attempt(
      std::move(order), pool_, events_, clock_,
      [&] { return stopping_ || Cancelled(run_id); },
      [&](const AttemptProgress& progress) { PostProgress(run, progress); });
  AttemptEnd end = attempt.Run();
  MutexLock lock(mutex_);
  busy_with_.clear();
  return end;
}

Runner::Next Runner::AfterStop(Current& run, const AttemptEnd& end) {
  switch (end.cause) {
    case StopCause::kCancelled:
      if (stopping_ && !Cancelled(run.run.run_id)) return Next::kEndRun;
      return EndRun(run, v1::CANCELLED_RUN, "cancelled");
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

void Runner::PostAttempt(Current& run, const RoundRow& round,
                         const AttemptRow& row) {
  const Plan& plan = run.run.plan;
  run.attempt_requests = row.requests;
  board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
    progress.set_engine(
        plan.suite.engines(static_cast<int>(round.engine)).name());
    progress.set_case_id(plan.cases[round.case_index].id);
    progress.set_repeat(round.repeat);
    progress.set_repeats(plan.suite.repeats());
    progress.set_warmup(row.kind == AttemptKind::kWarmup);
    progress.set_attempt_number(row.number);
    progress.set_requests_total(row.requests);
    progress.set_requests_completed(0);
    progress.set_requests_failed(0);
    progress.set_output_tokens(0);
    progress.set_attempt_elapsed_ns(0);
    progress.set_agents(static_cast<uint32_t>(pool_.Agents().size()));
    run.pace.Fill(clock_.Now(), progress);
  });
}

void Runner::PostProgress(Current& run, const AttemptProgress& attempt) {
  board_.Update(run.run.run_id, [&](v1::RunProgress& progress) {
    progress.set_requests_completed(attempt.completed);
    progress.set_requests_failed(attempt.failed);
    progress.set_output_tokens(attempt.output_tokens);
    progress.set_attempt_elapsed_ns(
        static_cast<uint64_t>(absl::ToInt64Nanoseconds(attempt.elapsed)));
    run.pace.Fill(clock_.Now(), progress);
  });
}

}  // namespace benchfleet
