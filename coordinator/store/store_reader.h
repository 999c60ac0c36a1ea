// Reading of runs, rounds, results and attempts: RoundStore's contracts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/store/round_store.h"
#include "coordinator/store/sqlite.h"

namespace benchfleet {

absl::StatusOr<std::vector<RunRow>> ReadRuns(Database& db);
absl::StatusOr<RunRow> ReadRun(Database& db, int64_t run_id);
absl::StatusOr<std::vector<EngineRow>> ReadEngines(Database& db,
                                                   int64_t run_id);
absl::StatusOr<std::vector<CaseRow>> ReadCases(Database& db, int64_t run_id);
absl::StatusOr<std::vector<RoundRow>> ReadRounds(Database& db, int64_t run_id);
absl::StatusOr<std::optional<RoundResult>> ReadResult(Database& db,
                                                      int64_t round_id);
absl::StatusOr<std::vector<AttemptRow>> ReadAttempts(Database& db,
                                                     int64_t round_id);
absl::StatusOr<std::vector<ShareRow>> ReadShares(Database& db,
                                                 int64_t attempt_id);
absl::StatusOr<std::vector<RuleRow>> ReadRules(Database& db,
                                               int64_t attempt_id);
absl::StatusOr<std::vector<AgentRow>> ReadAgents(Database& db);
absl::StatusOr<std::optional<int64_t>> ReadImport(Database& db,
                                                  absl::string_view sha256);

}  // namespace benchfleet
