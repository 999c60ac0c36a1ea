#include "tests/enginesim/engine_model.h"

#include <algorithm>
#include <map>
#include <vector>

#include "common/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace benchfleet::enginesim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Round numbers: prefill 10 ms up to 100 tokens, then 0.1 ms per token; decode
// 1 ms by itself, 2 ms for eleven.
Profile Plain(Scheduling scheduling) {
  Profile profile;
  profile.scheduling = scheduling;
  profile.max_running_requests = 4;
  profile.chunk_tokens = 100;
  profile.frontend_ms = 1;
  profile.frontend_spacing_ms = 0;
  profile.prefill_ms = {{1, 10}, {100, 10}, {200, 20}};
  profile.prefill_launch_ms = 0;
  profile.decode_ms = {{1, 1}, {11, 2}};
  return profile;
}

int64_t Ms(double ms) { return static_cast<int64_t>(ms * 1e6 + 0.5); }

std::vector<TokenEvent> RunAll(EngineModel& model) {
  std::vector<TokenEvent> events;
  while (model.NextEventNs() != EngineModel::kNever)
    model.AdvanceTo(model.NextEventNs(), events);
  return events;
}

// Times in ms of one request's tokens.
std::vector<double> Times(const std::vector<TokenEvent>& events, uint64_t id) {
  std::vector<double> times;
  for (const TokenEvent& event : events)
    if (event.request == id)
      times.push_back(static_cast<double>(event.at_ns) / 1e6);
  return times;
}

TEST(EngineModelTest, OneRequestTakesFrontendPrefillAndDecodes) {
  for (Scheduling scheduling :
       {Scheduling::kPrefillFirst, Scheduling::kMixed}) {
    EngineModel model(Plain(scheduling), 1);
    model.Add({1, 50, 4, 0});
    const auto events = RunAll(model);
    EXPECT_THAT(Times(events, 1), ElementsAre(11, 12, 13, 14));
    EXPECT_TRUE(events.back().last);
    EXPECT_EQ(model.running(), 0u);
  }
}

TEST(EngineModelTest, ALongPromptIsPrefilledInChunks) {
  EngineModel model(Plain(Scheduling::kMixed), 1);
  model.Add({1, 250, 2, 0});
  EXPECT_THAT(Times(RunAll(model), 1), ElementsAre(31, 32));
}

TEST(EngineModelTest, RequestsOfOneMomentShareAPrefill) {
  Profile profile = Plain(Scheduling::kPrefillFirst);
  profile.gather_ms = 2;
  profile.frontend_spacing_ms = 0.5;
  EngineModel model(profile, 1);
  for (uint64_t id = 1; id <= 4; ++id) model.Add({id, 25, 2, 0});
  const auto events = RunAll(model);
  // The step started with the first at 1 ms and took in the others.
  for (uint64_t id = 1; id <= 4; ++id)
    EXPECT_THAT(Times(events, id), ElementsAre(11, 12.3)) << id;
}

TEST(EngineModelTest, PrefillFirstStallsDecodes) {
  EngineModel model(Plain(Scheduling::kPrefillFirst), 1);
  model.Add({1, 50, 4, 0});
  model.Add({2, 50, 2, Ms(10.5)});  // visible at 11.5, within a decode
  const auto events = RunAll(model);
  // The prefill of 2 comes from 12 to 22; both decode together after it.
  EXPECT_THAT(Times(events, 1), ElementsAre(11, 12, 23.1, 24.1));
  EXPECT_THAT(Times(events, 2), ElementsAre(22, 23.1));
}

TEST(EngineModelTest, PrefillFirstHoldsResultsBackDuringALaunch) {
  Profile profile = Plain(Scheduling::kPrefillFirst);
  profile.prefill_launch_ms = 8;
  EngineModel model(profile, 1);
  model.Add({1, 50, 2, 0});
  model.Add({2, 50, 1, Ms(1)});  // too late for the step of 1
  const auto events = RunAll(model);
  EXPECT_EQ(Times(events, 1).front(), 11 + 8);
  EXPECT_THAT(Times(events, 2), ElementsAre(21));
}

TEST(EngineModelTest, MixedStepsDecodeWhileTheyPrefill) {
  EngineModel model(Plain(Scheduling::kMixed), 1);
  model.Add({1, 50, 5, 0});
  model.Add({2, 50, 2, Ms(10.5)});
  const auto events = RunAll(model);
  // At 12 the step until 13 is planned; the prefill of 2 rides from 13 on, and
  // 1 gets a token in that step.
  EXPECT_THAT(Times(events, 1), ElementsAre(11, 12, 13, 23, 24.1));
  EXPECT_THAT(Times(events, 2), ElementsAre(23, 24.1));
}

TEST(EngineModelTest, MixedDecodesUseTheChunkBudget) {
  EngineModel model(Plain(Scheduling::kMixed), 1);
  model.Add({1, 50, 20, 0});
  model.Add({2, 200, 1, Ms(10.5)});
  // 99 + 99 + 2 tokens beside the decodes of request 1.
  EXPECT_THAT(Times(RunAll(model), 2), ElementsAre(43));
}

TEST(EngineModelTest, RequestsBeyondTheLimitWait) {
  for (Scheduling scheduling :
       {Scheduling::kPrefillFirst, Scheduling::kMixed}) {
    Profile profile = Plain(scheduling);
    profile.max_running_requests = 2;
    EngineModel model(profile, 1);
    for (uint64_t id = 1; id <= 5; ++id) model.Add({id, 10, 3, 0});
    std::vector<TokenEvent> events;
    while (model.NextEventNs() != EngineModel::kNever) {
      model.AdvanceTo(model.NextEventNs(), events);
      EXPECT_LE(model.running(), 2u);
    }
    // First come, first served.
    EXPECT_GT(Times(events, 3).front(), Times(events, 1).back());
    EXPECT_GT(Times(events, 5).front(), Times(events, 3).back());
  }
}

TEST(EngineModelTest, ACancelledRequestFreesItsSlot) {
  Profile profile = Plain(Scheduling::kMixed);
  profile.max_running_requests = 1;
  EngineModel model(profile, 1);
  model.Add({1, 10, 1000, 0});
  model.Add({2, 10, 1, 0});
  std::vector<TokenEvent> events;
  model.AdvanceTo(Ms(20), events);
  model.Cancel(1);
  model.Cancel(77);
  events.clear();
  while (model.NextEventNs() != EngineModel::kNever)
    model.AdvanceTo(model.NextEventNs(), events);
  EXPECT_THAT(Times(events, 1), IsEmpty());
  EXPECT_EQ(Times(events, 2).size(), 1u);
  EXPECT_LT(Times(events, 2).front(), 40);
}

TEST(EngineModelTest, ALateAdvanceYieldsTheSameTimes) {
  for (Scheduling scheduling :
       {Scheduling::kPrefillFirst, Scheduling::kMixed}) {
    Profile profile = Plain(scheduling);
    profile.jitter = 0.02;
    EngineModel prompt(profile, 7), late(profile, 7);
    for (uint64_t id = 1; id <= 6; ++id) {
      prompt.Add({id, 30, 20, Ms(0.2 * static_cast<double>(id))});
      late.Add({id, 30, 20, Ms(0.2 * static_cast<double>(id))});
    }
    const auto expected = RunAll(prompt);
    std::vector<TokenEvent> events;
    late.AdvanceTo(Ms(1000), events);
    ASSERT_EQ(events.size(), expected.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].at_ns, expected[i].at_ns);
      EXPECT_EQ(events[i].request, expected[i].request);
    }
  }
}

// Random arrivals and cancels; each request that stays gets its tokens, each
// once, in order, and never before it arrived.
void CheckConservation(Scheduling scheduling, uint64_t seed) {
  SCOPED_TRACE(seed);
  Profile profile = Plain(scheduling);
  profile.jitter = 0.03;
  profile.gather_ms = 1;
  profile.gather_per_finished_ms = 0.5;
  profile.gather_max_ms = 5;
  profile.gather_jitter_ms = 1;
  profile.prefill_launch_ms = static_cast<double>(seed % 12);
  EngineModel model(profile, seed);
  Random random(seed);
  std::map<uint64_t, uint32_t> asked, got;
  std::map<uint64_t, int64_t> arrived;
  std::vector<TokenEvent> events;
  int64_t now = 0;
  for (uint64_t id = 1; id <= 120; ++id) {
    now += static_cast<int64_t>(random.Below(20'000'000));
    model.AdvanceTo(now, events);
    asked[id] = static_cast<uint32_t>(1 + random.Below(30));
    arrived[id] = now;
    model.Add(
        {id, static_cast<uint32_t>(1 + random.Below(300)), asked[id], now});
    if (random.Below(5) == 0) {
      const uint64_t victim = 1 + random.Below(id);
      model.Cancel(victim);
      asked.erase(victim);
    }
  }
  while (model.NextEventNs() != EngineModel::kNever)
    model.AdvanceTo(model.NextEventNs(), events);
  int64_t before = 0;
  for (const TokenEvent& event : events) {
    EXPECT_GE(event.at_ns, before);
    before = event.at_ns;
    EXPECT_GT(event.at_ns, arrived[event.request]);
    EXPECT_EQ(event.index, got[event.request]++);
    if (asked.count(event.request) != 0) {
      EXPECT_EQ(event.last, event.index + 1 == asked[event.request]);
    }
  }
  for (const auto& [id, tokens] : asked) EXPECT_EQ(got[id], tokens) << id;
  EXPECT_EQ(model.running() + model.waiting(), 0u);
}

TEST(EngineModelTest, EveryTokenComesOnceAndInOrder) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CheckConservation(Scheduling::kPrefillFirst, seed);
    CheckConservation(Scheduling::kMixed, seed);
  }
}

}  // namespace
}  // namespace benchfleet::enginesim
