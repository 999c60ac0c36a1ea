// What the list of runs says of each.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "benchfleet/v1/control.pb.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// By id.
absl::StatusOr<std::vector<v1::RunSummary>> Summaries(RoundStore& store);

}  // namespace benchfleet
