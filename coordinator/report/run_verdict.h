// The pass rule applied to a stored run.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "coordinator/report/pass_rule.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

absl::StatusOr<RunVerdict> JudgeRun(RoundStore& store, int64_t run_id);

}  // namespace benchfleet
