// Writing of attempts, their shares and timings: RoundStore's contracts, one
// transaction each, on a database open for writing.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "coordinator/store/round_store.h"
#include "coordinator/store/sqlite.h"

namespace benchfleet {

absl::StatusOr<uint64_t> WriteEpoch(Database& db);
absl::StatusOr<int64_t> WriteAttempt(Database& db, const AttemptRow& attempt,
                                     absl::Span<const ShareRow> shares);
absl::StatusOr<uint64_t> WriteTimings(Database& db,
                                      const v1::TimingBatch& batch);
absl::Status WriteAttemptEnd(Database& db, const AttemptRow& attempt,
                             absl::Span<const ShareRow> shares,
                             absl::Span<const RuleRow> rules);

}  // namespace benchfleet
