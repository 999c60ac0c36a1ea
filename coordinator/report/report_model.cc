#include "coordinator/report/report_model.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/report/scope.h"

namespace benchfleet {
namespace {

absl::Status AddAttempts(RoundStore& store, const RoundRow& round,
                         ReportModel* model) {
  ASSIGN_OR_RETURN(std::vector<AttemptRow> attempts, store.Attempts(round.id));
  for (AttemptRow& attempt : attempts) {
    if (attempt.verdict != AttemptVerdict::kValid) {
      model->excluded.push_back({round, std::move(attempt)});
    } else if (attempt.kind == AttemptKind::kWarmup) {
      ++model->warmup_attempts;
    }
  }
  return absl::OkStatus();
}

absl::Status AddRow(RoundStore& store, const RoundRow& round,
                    ReportModel* model) {
  ASSIGN_OR_RETURN(std::optional<RoundResult> result, store.Result(round.id));
  if (!result) return absl::OkStatus();
  std::vector<std::string> agents;
  if (result->attempt_id != 0) {
    ASSIGN_OR_RETURN(const std::vector<ShareRow> shares,
                     store.Shares(result->attempt_id));
    for (const ShareRow& share : shares) agents.push_back(share.agent_id);
  }
  model->row_agents.push_back(std::move(agents));
  model->rows.push_back({round, *std::move(result)});
  return absl::OkStatus();
}

// What the state itself says, beyond the stored reasons.
std::string ReasonOf(v1::RunState state) {
  switch (state) {
    case v1::FINISHED:
      return "";
    case v1::CANCELLED_RUN:
      return "run was cancelled";
    case v1::COULD_NOT_RUN:
      return "run could not be carried out";
    default:
      return "run is not finished";
  }
}

void Judge(ReportModel* model) {
  const RunRow& run = model->run;
  model->pass = run.state == v1::FINISHED && run.verdict == "PASS";
  model->reasons = run.reasons;
  const std::string reason = ReasonOf(run.state);
  if (!reason.empty()) model->reasons.insert(model->reasons.begin(), reason);
}

}  // namespace

absl::StatusOr<ReportModel> ReadReportModel(RoundStore& store, int64_t run_id) {
  ReportModel model;
  ASSIGN_OR_RETURN(model.run, store.Run(run_id));
  ASSIGN_OR_RETURN(model.engines, store.Engines(model.run.id));
  ASSIGN_OR_RETURN(model.cases, store.Cases(model.run.id));
  ASSIGN_OR_RETURN(const std::vector<RoundRow> rounds,
                   store.Rounds(model.run.id));
  model.planned_rounds = rounds.size();
  for (const RoundRow& round : rounds) {
    if (round.engine >= model.engines.size() ||
        round.case_index >= model.cases.size()) {
      return absl::DataLossError(absl::StrCat("run ", model.run.id, ": round ",
                                              round.id,
                                              " has no engine or case"));
    }
    RETURN_IF_ERROR(AddAttempts(store, round, &model));
    RETURN_IF_ERROR(AddRow(store, round, &model));
  }
  model.aggregates = AggregateRounds(model.rows);
  Judge(&model);
  model.statistics = model.run.imported ? model.run.statistics
                                        : StatisticsText(model.run.repeats);
  model.scope =
      model.run.imported ? model.run.scope : ScopeText(model.run.suite_text);
  return model;
}

}  // namespace benchfleet
