#include "coordinator/plan/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Plan PlanOf(const std::string& text, uint64_t drawn_seed) {
  const ParsedSuite parsed = ParseSuite(text);
  EXPECT_THAT(FormatProblems("s", parsed.problems), IsEmpty());
  return MakePlan(parsed.suite, drawn_seed);
}

constexpr char kSuite[] = R"pb(
  name: "smoke"
  model: "m"
  precision: "BF16"
  repeats: 3
  timeouts { request_s: 1.5f }
  engines { name: "vllm" kind: VLLM base_url: "http://127.0.0.1:8000" }
  cases {
    id: "short"
    input_tokens: 128
    output_tokens: 64
    concurrency: [ 2, 0x10 ]
    requests: [ 1000, 2000 ]
  }
  cases {
    id: "part"
    input_tokens: 1
    output_tokens: 1
    concurrency: 8
    requests: 3
    allow_partial_concurrency: true
    endpoint: CHAT
  })pb";

TEST(PlanTextTest, SaysAllThatWillRun) {
  const uint32_t agents[] = {3};
  EXPECT_EQ(PlanText(PlanOf(kSuite, 42), agents),
            R"(suite  smoke: m, BF16
seed   42 (drawn: the suite has none)
order  by engine, then case, then repeat; up to 3 attempts per round
limits request 1.5 s

engine  kind  base_url               model
vllm    VLLM  http://127.0.0.1:8000  m

case       input  output  concurrency  requests  warm-up  over 3 agents  notes
short-c2     128      64            2      1000        0  0+1+1
short-c16    128      64           16      2000        0  5+5+6
part           1       1            8         3        0  2+3+3          chat, never full

9 rounds (1 engine x 3 cases x 3 repeats), 9,009 requests
)");
}

TEST(PlanTextTest, AGivenSeedIsNotCalledDrawn) {
  const std::string text =
      PlanText(PlanOf(std::string(kSuite) + " seed: 5", 42), {});
  EXPECT_THAT(text, HasSubstr("seed   5\n"));
  EXPECT_THAT(text, Not(HasSubstr("over ")));
}

TEST(PlanTextTest, ManyAgentsAreShownByRange) {
  const uint32_t agents[] = {1, 4, 10};
  const std::string text = PlanText(PlanOf(kSuite, 42), agents);
  EXPECT_THAT(text, HasSubstr("over 1 agent  over 4 agents  over 10 agents"));
  EXPECT_THAT(text, HasSubstr("16            4+4+4+4        1 to 2 each"));
}

TEST(PlanTextTest, ScreensAreAtMostHundredColumnsWide) {
  const uint32_t agents[] = {6};
  const std::string text = PlanText(PlanOf(kSuite, UINT64_MAX), agents);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
    at = end + 1;
  }
}

}  // namespace
}  // namespace benchfleet
