#include "coordinator/report/run_verdict.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

absl::StatusOr<std::string> LastReason(RoundStore& store, int64_t round_id) {
  ASSIGN_OR_RETURN(const std::vector<AttemptRow> attempts,
                   store.Attempts(round_id));
  if (attempts.empty()) return std::string("not measured");
  return attempts.back().reason;
}

absl::StatusOr<std::string> ExampleOf(
    RoundStore& store, const RoundRow& round,
    const std::optional<RoundResult>& result) {
  if (!result) return LastReason(store, round.id);
  if (result->failed == 0) return std::string();
  ASSIGN_OR_RETURN(const std::vector<StoredTiming> timings,
                   store.Timings(result->attempt_id));
  return FailureExample(timings);
}

}  // namespace

absl::StatusOr<RunVerdict> JudgeRun(RoundStore& store, int64_t run_id) {
  ASSIGN_OR_RETURN(const RunRow run, store.Run(run_id));
  ASSIGN_OR_RETURN(const std::vector<EngineRow> engines, store.Engines(run.id));
  ASSIGN_OR_RETURN(const std::vector<CaseRow> cases, store.Cases(run.id));
  ASSIGN_OR_RETURN(const std::vector<RoundRow> rounds, store.Rounds(run.id));
  std::vector<PlannedOutcome> outcomes;
  for (const RoundRow& round : rounds) {
    PlannedOutcome outcome;
    outcome.engine = engines[round.engine].name;
    outcome.round_case = cases[round.case_index];
    outcome.state = round.state;
    ASSIGN_OR_RETURN(outcome.result, store.Result(round.id));
    ASSIGN_OR_RETURN(outcome.example, ExampleOf(store, round, outcome.result));
    outcomes.push_back(std::move(outcome));
  }
  return JudgeRounds(outcomes);
}

}  // namespace benchfleet
