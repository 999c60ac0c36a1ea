// From a plan to what the store keeps of it, and back. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/plan/plan.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

NewRun MakeNewRun(const Plan& plan, absl::string_view suite_text,
                  absl::Time now);

// The plan of a stored run, from its text and seed. Internal: the text no
// longer passes the checks of this build.
absl::StatusOr<Plan> PlanOfStoredRun(const RunRow& run);

}  // namespace benchfleet
