// The checks of a suite's engines.
#pragma once

#include "benchfleet/v1/suite.pb.h"
#include "coordinator/plan/field_places.h"
#include "coordinator/plan/problem.h"

namespace benchfleet {

void CheckEngines(const v1::Suite& suite, const FieldPlaces& places,
                  ProblemList& problems);

}  // namespace benchfleet
