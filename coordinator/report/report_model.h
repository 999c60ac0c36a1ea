// A whole run as the reports need it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/report/aggregate.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// An attempt that does not count.
struct ExcludedAttempt {
  RoundRow round;
  AttemptRow attempt;
};

struct ReportModel {
  RunRow run;
  std::vector<EngineRow> engines;
  std::vector<CaseRow> cases;
  size_t planned_rounds = 0;
  std::vector<CountedRound> rows;  // by round
  // Agents of each row's attempt; empty lists if imported.
  std::vector<std::vector<std::string>> row_agents;
  std::vector<CaseAggregate> aggregates;
  // Not VALID, by round; warm-up too.
  std::vector<ExcludedAttempt> excluded;
  int64_t warmup_attempts = 0;  // VALID ones

  bool pass = false;
  std::vector<std::string> reasons;  // why not; may stand beside a pass
  std::string statistics, scope;

  const EngineRow& EngineOf(const RoundRow& round) const {
    return engines[round.engine];
  }
  const CaseRow& CaseOf(const RoundRow& round) const {
    return cases[round.case_index];
  }
};

// run_id 0: the latest.
absl::StatusOr<ReportModel> ReadReportModel(RoundStore& store, int64_t run_id);

}  // namespace benchfleet
