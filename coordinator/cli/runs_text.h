// The list of runs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchfleet/v1/control.pb.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// By id.
absl::StatusOr<std::vector<v1::RunSummary>> Summaries(RoundStore& store);

// A line per run under a headline; times in UTC. Pure.
std::string RunsText(const std::vector<v1::RunSummary>& runs);

}  // namespace benchfleet
