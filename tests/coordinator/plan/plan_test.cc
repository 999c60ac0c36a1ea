#include "coordinator/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSuite[] = R"pb(
  name: "s"
  model: "m"
  repeats: 2
  seed: 7
  engines { name: "a" kind: VLLM base_url: "http://a" }
  engines { name: "b" kind: OPENAI base_url: "http://b" model: "other" }
  cases {
    id: "one"
    input_tokens: 10
    output_tokens: 5
    concurrency: 4
    requests: 8
  }
  cases {
    id: "many"
    input_tokens: 10
    output_tokens: 5
    concurrency: [ 1, 2 ]
    requests: [ 3, 4 ]
    warmup_requests: 1
    endpoint: CHAT
    include_usage: false
    allow_wrong_length: true
  })pb";

v1::Suite Parse(const std::string& text) {
  ParsedSuite parsed = ParseSuite(text);
  EXPECT_THAT(FormatProblems("s", parsed.problems), IsEmpty());
  return parsed.suite;
}

TEST(PlanTest, AFamilyWithSeveralConcurrenciesIsSeveralCases) {
  const Plan plan = MakePlan(Parse(kSuite), 0);
  ASSERT_EQ(plan.cases.size(), 3u);
  EXPECT_EQ(plan.cases[0].id, "one");
  EXPECT_EQ(plan.cases[1].id, "many-c1");
  EXPECT_EQ(plan.cases[2].id, "many-c2");
  EXPECT_EQ(plan.cases[2].concurrency, 2u);
  EXPECT_EQ(plan.cases[2].requests, 4u);
  EXPECT_EQ(plan.cases[2].warmup_requests, 1u);
  EXPECT_EQ(plan.cases[2].endpoint, v1::CHAT);
  EXPECT_FALSE(plan.cases[2].include_usage);
  EXPECT_TRUE(plan.cases[2].allow_wrong_length);
  EXPECT_EQ(plan.cases[0].endpoint, v1::COMPLETIONS);
  EXPECT_TRUE(plan.cases[0].include_usage);
  EXPECT_EQ(plan.cases[0].warmup_requests, 0u);
}

TEST(PlanTest, RoundsGoEngineByEngineCaseByCaseRepeatByRepeat) {
  const Plan plan = MakePlan(Parse(kSuite), 0);
  ASSERT_EQ(plan.rounds.size(), 12u);
  uint32_t index = 0;
  for (uint32_t engine = 0; engine < 2; ++engine) {
    for (uint32_t c = 0; c < 3; ++c) {
      for (uint32_t repeat = 1; repeat <= 2; ++repeat) {
        const PlannedRound& round = plan.rounds[index];
        EXPECT_EQ(round.index, index++);
        EXPECT_EQ(round.engine, engine);
        EXPECT_EQ(round.case_index, c);
        EXPECT_EQ(round.repeat, repeat);
      }
    }
  }
  EXPECT_EQ(plan.TotalRequests(), 2u * 2u * (8 + 3 + 4));
}

TEST(PlanTest, DefaultsAreFilledIn) {
  const Plan plan = MakePlan(Parse(kSuite), 0);
  EXPECT_EQ(plan.suite.max_attempts(), 3u);
  EXPECT_EQ(plan.suite.engines(0).model(), "m");
  EXPECT_EQ(plan.suite.engines(1).model(), "other");
}

TEST(PlanTest, ASuiteWithoutModelTakesItsEngines) {
  v1::Suite suite = Parse(kSuite);
  suite.clear_model();
  suite.mutable_engines(0)->set_model("m");
  EXPECT_EQ(MakePlan(suite, 0).suite.model(), "m, other");
  suite.mutable_engines(1)->set_model("m");
  EXPECT_EQ(MakePlan(suite, 0).suite.model(), "m");
}

TEST(PlanTest, TheSeedIsTheSuitesOrTheDrawnOne) {
  v1::Suite suite = Parse(kSuite);
  Plan plan = MakePlan(suite, 99);
  EXPECT_EQ(plan.seed, 7u);
  EXPECT_FALSE(plan.seed_was_drawn);
  suite.set_seed(0);  // given, and zero
  EXPECT_EQ(MakePlan(suite, 99).seed, 0u);
  suite.clear_seed();
  plan = MakePlan(suite, 99);
  EXPECT_EQ(plan.seed, 99u);
  EXPECT_EQ(plan.suite.seed(), 99u);
  EXPECT_TRUE(plan.seed_was_drawn);
}

TEST(PlanTest, EnginesShareSeedsAndNothingElseDoes) {
  const Plan plan = MakePlan(Parse(kSuite), 0);
  std::set<uint64_t> seeds;
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(plan.rounds[i].request_seed, plan.rounds[i + 6].request_seed);
    EXPECT_EQ(plan.rounds[i].warmup_seed, plan.rounds[i + 6].warmup_seed);
    seeds.insert(plan.rounds[i].request_seed);
    seeds.insert(plan.rounds[i].warmup_seed);
  }
  EXPECT_EQ(seeds.size(), 12u);
}

TEST(PlanTest, ACaseKeepsItsRequestsWhenAnotherIsPutBeforeIt) {
  v1::Suite suite = Parse(kSuite);
  const Plan before = MakePlan(suite, 0);
  suite.mutable_cases()->SwapElements(0, 1);
  const Plan after = MakePlan(suite, 0);
  ASSERT_EQ(after.cases[2].id, "one");
  EXPECT_EQ(after.rounds[4].request_seed, before.rounds[0].request_seed);
}

TEST(PlanTest, SeedsAreFixedForEver) {
  const Plan plan = MakePlan(Parse(kSuite), 0);
  EXPECT_EQ(plan.rounds[0].request_seed, 1292299623813778311u);
}

TEST(PlanTest, PromptsAreTokenIdsWhereTheEngineTakesThem) {
  const struct {
    v1::EngineKind kind;
    v1::Endpoint endpoint;
    v1::PromptFormat asked;
    v1::PromptFormat got;
  } kCases[] = {
      {v1::VLLM, v1::COMPLETIONS, v1::PROMPT_FORMAT_UNSPECIFIED, v1::TOKEN_IDS},
      {v1::SGLANG, v1::COMPLETIONS, v1::PROMPT_FORMAT_UNSPECIFIED,
       v1::TOKEN_IDS},
      {v1::LLAMACPP, v1::COMPLETIONS, v1::PROMPT_FORMAT_UNSPECIFIED,
       v1::TOKEN_IDS},
      {v1::OPENAI, v1::COMPLETIONS, v1::PROMPT_FORMAT_UNSPECIFIED, v1::TEXT},
      {v1::VLLM, v1::CHAT, v1::PROMPT_FORMAT_UNSPECIFIED, v1::TEXT},
      {v1::VLLM, v1::COMPLETIONS, v1::TEXT, v1::TEXT},
      {v1::VLLM, v1::COMPLETIONS, v1::TOKEN_IDS, v1::TOKEN_IDS},
  };
  for (const auto& c : kCases) {
    v1::Engine engine;
    engine.set_kind(c.kind);
    PlannedCase planned;
    planned.endpoint = c.endpoint;
    planned.prompt_format = c.asked;
    EXPECT_EQ(ResolvePromptFormat(engine, planned), c.got)
        << v1::EngineKind_Name(c.kind);
  }
}

}  // namespace
}  // namespace benchfleet
