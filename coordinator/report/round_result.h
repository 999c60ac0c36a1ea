// Results and raw artifacts of stored attempts. Computed from the store
// alone, so that they come out the same at any later time.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// The complete result of one attempt at `round`, for StoreRoundResult. Call
// it after FinishAttempt: the artifact holds the final facts of the shares.
absl::StatusOr<RoundResult> ComputeStoredResult(RoundStore& store,
                                                int64_t run_id,
                                                const RoundRow& round,
                                                int64_t attempt_id);

// The artifact whose SHA-256 is the result's `source_sha256`.
absl::StatusOr<std::string> StoredRawArtifact(RoundStore& store, int64_t run_id,
                                              const RoundRow& round,
                                              int64_t attempt_id);

// The artifact of a counted round, found by names. run_id 0: the latest.
// NotFound: no such engine, case, repeat or result; says what there is.
// FailedPrecondition: the run was imported.
absl::StatusOr<std::string> FindRawArtifact(RoundStore& store, int64_t run_id,
                                            absl::string_view engine,
                                            absl::string_view case_id,
                                            uint32_t repeat);

}  // namespace benchfleet
