// Whether a run passes, and why not. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// A planned round and what became of it.
struct PlannedOutcome {
  std::string engine;
  CaseRow round_case;
  RoundState state = RoundState::kPending;
  std::optional<RoundResult> result;
  // One example, for the reasons: a failed request, or why no attempt was
  // VALID. May be empty.
  std::string example;
};

struct RunVerdict {
  bool pass = false;
  std::vector<std::string> reasons;  // empty if passed
};

// PASS: every planned round is VALID with all its requests, none of them
// failed, of wrong length or wrong input length (unless the case allows it) or
// with inconsistent usage, and token totals agree. Reasons are grouped by
// engine and case.
RunVerdict JudgeRounds(absl::Span<const PlannedOutcome> rounds);

// The most frequent failure, and its first message with the agent that saw it,
// such as "http_status 500 on load1: no model". Empty if nothing failed.
std::string FailureExample(absl::Span<const StoredTiming> timings);

}  // namespace benchfleet
