// A suite's text: problems that can be shown, or a suite that protobuf reads
// the same, with a plan.
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <string>

#include "coordinator/plan/plan.h"
#include "coordinator/plan/plan_text.h"
#include "coordinator/plan/suite_parser.h"
#include "coordinator/plan/utf8.h"
#include "tests/fuzz/fuzz_check.h"

namespace benchfleet {
namespace {

// Plans of more rounds are right, too, but slow to print.
constexpr uint64_t kMostRounds = 2000;

void CheckProblem(const Problem& problem) {
  FUZZ_CHECK((problem.line == 0) == (problem.column == 0));
  FUZZ_CHECK(!problem.message.empty() && problem.message.size() < 1000);
  FUZZ_CHECK(IsUtf8(problem.message));
  FUZZ_CHECK(std::none_of(
      problem.message.begin(), problem.message.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
}

void Test(absl::string_view text) {
  const ParsedSuite parsed = ParseSuite(text);
  for (const Problem& problem : parsed.problems) CheckProblem(problem);
  if (!parsed.problems.empty()) return;
  if (text.find_first_of("\r\xef") == text.npos) {
    v1::Suite theirs;
    FUZZ_CHECK(google::protobuf::TextFormat::ParseFromString(std::string(text),
                                                             &theirs));
    FUZZ_CHECK(theirs.SerializeAsString() == parsed.suite.SerializeAsString());
  }
  if (parsed.suite.repeats() *
          static_cast<uint64_t>(parsed.suite.cases_size() *
                                parsed.suite.engines_size()) >
      kMostRounds) {
    return;
  }
  const Plan plan = MakePlan(parsed.suite, 1);
  FUZZ_CHECK(!plan.rounds.empty());
  FUZZ_CHECK(IsUtf8(PlanText(plan, {1, 3})));
}

}  // namespace
}  // namespace benchfleet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  benchfleet::Test(benchfleet::AsText(data, size));
  return 0;
}
