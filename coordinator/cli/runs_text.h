// The list of runs.
#pragma once

#include <string>
#include <vector>

#include "benchfleet/v1/control.pb.h"

namespace benchfleet {

// A line per run under a headline; times in UTC. Pure.
std::string RunsText(const std::vector<v1::RunSummary>& runs);

}  // namespace benchfleet
