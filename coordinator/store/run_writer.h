// Writing of runs, their rounds and results: RoundStore's contracts, one
// transaction each, on a database open for writing.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "coordinator/store/round_store.h"
#include "coordinator/store/sqlite.h"

namespace benchfleet {

absl::StatusOr<int64_t> WriteRun(Database& db, const NewRun& run);
absl::Status WriteRunState(Database& db, int64_t run_id, v1::RunState state,
                           absl::string_view verdict,
                           absl::Span<const std::string> reasons,
                           absl::Time now);
absl::Status WriteRoundState(Database& db, int64_t round_id, RoundState state);
absl::Status WriteRoundResult(Database& db, int64_t round_id,
                              const RoundResult& result);
absl::Status WriteAgent(Database& db, const AgentRow& agent);

}  // namespace benchfleet
