#include "coordinator/report/run_summaries.h"

#include <algorithm>
#include <utility>

#include "common/status_macros.h"

namespace benchfleet {

absl::StatusOr<std::vector<v1::RunSummary>> Summaries(RoundStore& store) {
  std::vector<v1::RunSummary> summaries;
  ASSIGN_OR_RETURN(const std::vector<RunRow> runs, store.Runs());
  for (const RunRow& run : runs) {
    v1::RunSummary summary;
    summary.set_run_id(run.id);
    summary.set_suite_name(run.suite_name);
    summary.set_model(run.model);
    summary.set_state(run.state);
    summary.set_verdict(run.verdict);
    summary.set_created_unix_ns(absl::ToUnixNanos(run.created));
    summary.set_imported(run.imported);
    ASSIGN_OR_RETURN(const std::vector<RoundRow> rounds, store.Rounds(run.id));
    summary.set_rounds_total(static_cast<uint32_t>(rounds.size()));
    summary.set_rounds_done(static_cast<uint32_t>(
        std::count_if(rounds.begin(), rounds.end(), [](const RoundRow& round) {
          return round.state != RoundState::kPending;
        })));
    ASSIGN_OR_RETURN(const std::vector<EngineRow> engines,
                     store.Engines(run.id));
    for (const EngineRow& engine : engines) summary.add_engines(engine.name);
    for (const std::string& reason : run.reasons) summary.add_reasons(reason);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace benchfleet
