#include "coordinator/report/pass_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlannedOutcome Good() {
  PlannedOutcome outcome;
  outcome.engine = "vllm";
  outcome.round_case = {"short-c4", 128, 64, 4, 8, 0, false};
  outcome.state = RoundState::kValid;
  outcome.result.emplace();
  outcome.result->completed = 8;
  outcome.result->total_output_tokens = 8 * 64;
  return outcome;
}

TEST(PassRuleTest, EveryRoundGoodPasses) {
  const RunVerdict verdict = JudgeRounds({Good(), Good()});
  EXPECT_TRUE(verdict.pass);
  EXPECT_THAT(verdict.reasons, IsEmpty());
}

TEST(PassRuleTest, NothingPlannedIsNoPass) {
  EXPECT_FALSE(JudgeRounds({}).pass);
}

TEST(PassRuleTest, EachDefectFailsWithOneReason) {
  struct Row {
    void (*spoil)(PlannedOutcome*);
    const char* reason;
  };
  const Row rows[] = {
      {[](PlannedOutcome* o) {
         o->state = RoundState::kGivenUp;
         o->result.reset();
         o->example = "agent lost";
       },
       "vllm short-c4: 1 of 2 rounds not VALID (agent lost)"},
      {[](PlannedOutcome* o) {
         o->result->completed = 0;
         o->result->failed = 8;
         o->result->total_output_tokens = 0;
         o->example = "http_status 500: no\nmodel";
       },
       "vllm short-c4: 8 of 16 requests failed (http_status 500: no model)"},
      {[](PlannedOutcome* o) { o->result->wrong_length = 2; },
       "vllm short-c4: 2 of 16 requests with another output length than asked"},
      {[](PlannedOutcome* o) { o->result->wrong_input_length = 1; },
       "vllm short-c4: 1 of 16 requests with another input length than asked"},
      {[](PlannedOutcome* o) { o->result->usage_inconsistent = 1; },
       "vllm short-c4: 1 of 16 requests whose usage contradicts their stream"},
      {[](PlannedOutcome* o) { o->result->total_output_tokens -= 1; },
       "vllm short-c4: 1 of 2 rounds whose total of output tokens is not the "
       "one asked"},
      {[](PlannedOutcome* o) {
         o->result->completed = 7;
         o->result->total_output_tokens = 7 * 64;
       },
       "vllm short-c4: 15 requests counted, 16 planned"},
  };
  for (const Row& row : rows) {
    PlannedOutcome bad = Good();
    row.spoil(&bad);
    const RunVerdict verdict = JudgeRounds({Good(), bad});
    EXPECT_FALSE(verdict.pass);
    EXPECT_THAT(verdict.reasons, ElementsAre(row.reason));
  }
}

TEST(PassRuleTest, WrongLengthPassesWhereAllowed) {
  PlannedOutcome outcome = Good();
  outcome.round_case.allow_wrong_length = true;
  outcome.result->wrong_length = 3;
  outcome.result->total_output_tokens = 100;
  EXPECT_TRUE(JudgeRounds({outcome}).pass);
}

TEST(PassRuleTest, ReasonsAreBounded) {
  std::vector<PlannedOutcome> rounds;
  for (int i = 0; i < 200; ++i) {
    rounds.emplace_back();
    rounds.back().round_case.id = std::to_string(i);
  }
  const RunVerdict verdict = JudgeRounds(rounds);
  EXPECT_EQ(verdict.reasons.size(), 51u);
  EXPECT_EQ(verdict.reasons.back(), "and 150 more reasons");
}

TEST(PassRuleTest, ExampleIsTheMostFrequentFailure) {
  std::vector<StoredTiming> timings(5);
  EXPECT_EQ(FailureExample({}), "");
  for (StoredTiming& stored : timings) {
    stored.timing.set_outcome(v1::HTTP_STATUS);
    stored.timing.set_http_status(500);
  }
  timings[0].timing.set_outcome(v1::COMPLETED);
  timings[1].timing.set_outcome(v1::TIMEOUT);
  timings[1].timing.set_error("60 s");
  timings[3].timing.set_error("no model");
  timings[3].agent_id = "load2";
  EXPECT_EQ(FailureExample(timings), "http_status 500 on load2: no model");
  EXPECT_EQ(FailureExample({timings[1]}), "timeout: 60 s");
}

}  // namespace
}  // namespace benchfleet
