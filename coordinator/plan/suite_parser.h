// A suite's text into a suite, with all that is wrong with it at once: what
// cannot be read as well as what makes no sense. Pure.
//
//   ParsedSuite parsed = ParseSuite(text);
//   if (!parsed.problems.empty()) {
//     return FormatProblems("suite.pb.txt", parsed.problems);
//   }
//   Plan plan = MakePlan(parsed.suite, RandomSeedFromSystem());
#pragma once

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "benchfleet/v1/suite.pb.h"
#include "coordinator/plan/problem.h"

namespace benchfleet {

inline constexpr size_t kMaxSuiteBytes = size_t{1} << 20;

struct ParsedSuite {
  // As written, no defaults filled in. Incomplete if there are problems.
  v1::Suite suite;
  // Sorted by place. Empty: the suite can run.
  std::vector<Problem> problems;
};

// Any bytes may be given.
ParsedSuite ParseSuite(absl::string_view text);

}  // namespace benchfleet
