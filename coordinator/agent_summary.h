// An agent as operators see it. Pure.
#pragma once

#include "benchfleet/v1/control.pb.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// Not connected; callers that know better say so.
v1::AgentSummary SummaryOf(const AgentRow& row);

}  // namespace benchfleet
