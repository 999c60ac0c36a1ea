// What a readable suite must be to make sense. Pure.
#pragma once

#include <cstdint>

#include "benchfleet/v1/suite.pb.h"
#include "coordinator/plan/field_places.h"
#include "coordinator/plan/problem.h"

namespace benchfleet {

inline constexpr uint32_t kMaxConcurrency = 100'000;
inline constexpr uint32_t kMaxRequests = 10'000'000;  // of one round
inline constexpr uint32_t kMaxTokens = 10'000'000;    // of one request
inline constexpr uint32_t kMaxRepeats = 1000;
inline constexpr uint32_t kMaxAttempts = 100;
inline constexpr uint64_t kMaxRounds = 100'000;
inline constexpr double kMaxTimeoutSeconds = 7 * 24 * 3600;

// Says nothing about fields that `places` knows as broken or misspelt: those
// are reported already.
void CheckSuite(const v1::Suite& suite, const FieldPlaces& places,
                ProblemList& problems);

}  // namespace benchfleet
