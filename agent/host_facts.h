// What host this agent runs on.
#pragma once

#include "benchfleet/v1/fleet.pb.h"

namespace benchfleet {

// Fields that cannot be read stay empty.
v1::HostFacts ReadHostFacts();

// Lifts the limit of open files to the hard limit; returns it.
uint64_t RaiseOpenFileLimit();

}  // namespace benchfleet
