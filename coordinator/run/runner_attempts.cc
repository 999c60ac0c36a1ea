// The part of Runner that carries out one attempt.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/plan/split.h"
#include "coordinator/run/run_progress.h"
#include "coordinator/run/runner.h"

namespace benchfleet {

absl::StatusOr<AttemptEnd> Runner::RunAttempt(Current& run,
                                              const RoundRow& round,
                                              std::vector<PooledAgent> agents,
                                              AttemptRow& row) {
  const PlannedCase& planned = run.run.plan.cases[round.case_index];
  // A warm-up of few requests needs no more slots than requests.
  const uint32_t concurrency = std::min(planned.concurrency, row.requests);
  ASSIGN_OR_RETURN(const std::vector<uint32_t> split,
                   SplitOverAgents(concurrency, Capacities(agents)));
  AttemptOrder order;
  for (size_t i = 0; i < agents.size(); ++i) {
    if (split[i] == 0) continue;
    order.agents.push_back(std::move(agents[i]));
    order.concurrency.push_back(split[i]);
  }
  row.started = clock_.WallNow();
  ASSIGN_OR_RETURN(row.id, ingest_.Get<int64_t>([&](RoundStore& store) {
    return store.BeginAttempt(row, SharesOf(order));
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

void Runner::PostAttempt(Current& run, const RoundRow& round,
                         const AttemptRow& row) {
  const Plan& plan = run.run.plan;
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
