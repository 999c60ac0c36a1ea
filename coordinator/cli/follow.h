// Following a run to its end, for submit and watch.
#pragma once

#include <cstdint>

#include "benchfleet/v1/control.pb.h"
#include "common/clock.h"
#include "coordinator/cli/control_client.h"

namespace benchfleet {

// Shows progress on stderr, then the report on stdout and the outcome on
// stderr. Returns the exit code of the run.
int FollowRun(ControlClient& client, int64_t run_id, const Clock& clock);

// PASS 0, FAIL 1, could not run 3, cancelled 130.
int ExitCodeOf(const v1::RunProgress& over);

// "run 3: PASS", or why not. Pure.
std::string OutcomeText(const v1::RunProgress& over);

}  // namespace benchfleet
