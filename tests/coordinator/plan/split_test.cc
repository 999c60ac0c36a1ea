#include "coordinator/plan/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "common/random.h"
#include "coordinator/plan/plan.h"

namespace benchfleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SplitTest, SharesFollowTheFormula) {
  const struct {
    uint32_t concurrency;
    std::vector<uint32_t> weights;
    std::vector<uint32_t> shares;
  } kCases[] = {
      {10, {1, 1, 1}, {3, 3, 4}},
      {2, {1, 1, 1}, {0, 1, 1}},
      {7, {4, 2, 1}, {4, 2, 1}},
      {5, {2, 1, 1}, {2, 1, 2}},
      {1, {1, 1, 1}, {0, 0, 1}},
      {4, {1, 1, 2}, {1, 1, 2}},
      {32, {1}, {32}},
      {0, {1, 2}, {0, 0}},
      {5, {}, {}},
      // Products and sums beyond 64 and 32 bits.
      {4294967295u, {4294967295u, 4294967295u}, {2147483647u, 2147483648u}},
      {4294967295u, {4294967295u, 1}, {4294967294u, 1}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(SplitConcurrency(c.concurrency, c.weights), c.shares)
        << c.concurrency;
  }
}

TEST(SplitTest, SharesAlwaysSumToTheConcurrency) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint32_t> weights(1 + random.Below(12));
    for (uint32_t& weight : weights) {
      weight = static_cast<uint32_t>(1 + random.Below(1u << random.Below(32)));
    }
    const auto concurrency =
        static_cast<uint32_t>(random.Below(1u << random.Below(32)));
    const auto shares = SplitConcurrency(concurrency, weights);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), uint64_t{0}),
              concurrency);
  }
}

std::vector<uint32_t> Split(uint32_t concurrency,
                            std::vector<AgentCapacity> agents) {
  const auto shares = SplitOverAgents(concurrency, agents);
  EXPECT_TRUE(shares.ok()) << shares.status();
  return shares.ok() ? *shares : std::vector<uint32_t>();
}

TEST(SplitTest, WithoutLimitsAgentsGetWhatTheFormulaSays) {
  EXPECT_THAT(Split(10, {{1, 0}, {1, 0}, {1, 0}}), ElementsAre(3, 3, 4));
  EXPECT_THAT(Split(5, {{2, 100}, {0, 0}, {1, 100}}), ElementsAre(2, 1, 2));
  EXPECT_THAT(Split(0, {}), IsEmpty());
}

TEST(SplitTest, WhatIsOverALimitFallsOnTheOthers) {
  EXPECT_THAT(Split(12, {{1, 2}, {1, 0}, {1, 0}}), ElementsAre(2, 5, 5));
  EXPECT_THAT(Split(12, {{1, 2}, {1, 4}, {1, 6}}), ElementsAre(2, 4, 6));
  EXPECT_THAT(Split(10, {{1000, 1}, {1, 9}}), ElementsAre(1, 9));
  // The second limit is only reached by what the first one left over.
  EXPECT_THAT(Split(30, {{1, 1}, {1, 11}, {1, 0}}), ElementsAre(1, 11, 18));
}

TEST(SplitTest, LimitsHoldAndSumsAreRightForAnyFleet) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    std::vector<AgentCapacity> agents(1 + random.Below(9));
    uint32_t capacity = 0;
    for (AgentCapacity& agent : agents) {
      agent.weight = static_cast<uint32_t>(random.Below(5));
      agent.max_concurrency = static_cast<uint32_t>(1 + random.Below(40));
      capacity += agent.max_concurrency;
    }
    const auto concurrency = static_cast<uint32_t>(random.Below(capacity + 1));
    const auto shares = Split(concurrency, agents);
    ASSERT_EQ(shares.size(), agents.size());
    for (size_t k = 0; k < agents.size(); ++k) {
      EXPECT_LE(shares[k], agents[k].max_concurrency);
    }
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), 0u), concurrency);
  }
}

TEST(SplitTest, AFleetThatIsTooSmallIsRefusedWithItsNumbers) {
  const AgentCapacity agents[] = {{1, 2}, {1, 3}};
  const auto shares = SplitOverAgents(6, agents);
  EXPECT_EQ(shares.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(shares.status().message()),
              HasSubstr("concurrency 6 is more than the 2 agents take together "
                        "(5)"));
  EXPECT_FALSE(SplitOverAgents(1, {}).ok());
}

}  // namespace
}  // namespace benchfleet
