// The sample run, carried out: one round needed a second attempt, one request
// of the last round failed.
#pragma once

#include "coordinator/report/round_result.h"
#include "coordinator/report/run_verdict.h"
#include "tests/coordinator/sample_run.h"

namespace benchfleet {

// One attempt at a round, from the first batch to its result.
inline void MeasureRound(RoundStore& store, int64_t run_id,
                         const RoundRow& round, uint64_t epoch, int64_t itl_ms,
                         AttemptVerdict verdict, bool second_fails) {
  AttemptRow attempt = SampleAttempt(round.id, epoch);
  attempt.id = store.BeginAttempt(attempt, SampleShares()).value();
  v1::RequestTiming second = SampleTiming(1, -99'000, itl_ms + 1);
  if (second_fails) {
    second.clear_token_delta_ns();
    second.set_outcome(v1::HTTP_STATUS);
    second.set_http_status(500);
    second.set_error("no model");
    second.set_output_tokens(0);
  }
  (void)store
      .AppendTimings(SampleBatch(attempt.id, epoch, "a", 1,
                                 {SampleTiming(0, 1000, itl_ms)}))
      .value();
  (void)store.AppendTimings(SampleBatch(attempt.id, epoch, "b", 1, {second}))
      .value();
  attempt.verdict = verdict;
  if (verdict != AttemptVerdict::kValid) attempt.reason = "agent b stood still";
  (void)store.FinishAttempt(attempt, SampleShares(), {});
  if (verdict != AttemptVerdict::kValid) return;
  (void)store.StoreRoundResult(
      round.id, ComputeStoredResult(store, run_id, round, attempt.id).value());
}

inline int64_t MeasureSampleRun(RoundStore& store, bool second_fails = true) {
  const uint64_t epoch = store.BeginEpoch().value();
  const int64_t run_id = store.CreateRun(SampleRun()).value();
  const auto rounds = store.Rounds(run_id).value();
  MeasureRound(store, run_id, rounds[0], epoch, 900, AttemptVerdict::kInvalid,
               false);
  for (const RoundRow& round : rounds) {
    MeasureRound(store, run_id, round, epoch, 10 + round.index,
                 AttemptVerdict::kValid, second_fails && round.index == 3);
  }
  const RunVerdict verdict = JudgeRun(store, run_id).value();
  (void)store.SetRunState(run_id, v1::FINISHED, verdict.pass ? "PASS" : "FAIL",
                          verdict.reasons, absl::FromUnixSeconds(1780000099));
  return run_id;
}

}  // namespace benchfleet
