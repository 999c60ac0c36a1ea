// Reading of an attempt's raw timings.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/store/round_store.h"
#include "coordinator/store/sqlite.h"

namespace benchfleet {

absl::StatusOr<std::vector<StoredTiming>> ReadTimings(Database& db,
                                                      int64_t attempt_id);

}  // namespace benchfleet
