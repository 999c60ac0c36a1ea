#include "coordinator/run/fleet_need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

using ::testing::HasSubstr;

std::vector<PooledAgent> Agents(int count, uint32_t max_concurrency) {
  std::vector<PooledAgent> agents(static_cast<size_t>(count));
  for (PooledAgent& agent : agents) {
    agent.hello.set_max_concurrency(max_concurrency);
  }
  return agents;
}

TEST(FleetNeedTest, TheLargestCaseIsWhatIsNeeded) {
  Plan plan;
  for (uint32_t concurrency : {4u, 32u, 8u}) {
    PlannedCase& planned = plan.cases.emplace_back();
    planned.id = absl::StrCat("c", concurrency);
    planned.concurrency = concurrency;
  }
  const FleetNeed need = NeedOf(plan, 0);
  EXPECT_EQ(need.concurrency, 32u);
  EXPECT_EQ(need.case_id, "c32");
  EXPECT_EQ(need.min_agents, 1u);
}

TEST(FleetNeedTest, NoAgentIsAHardLack) {
  const FleetLack lack = LackOf({}, {});
  EXPECT_THAT(lack.text, HasSubstr("no agent connected"));
  EXPECT_TRUE(lack.hard);
}

TEST(FleetNeedTest, TooLittleCapacityIsAHardLackWithNumbers) {
  const FleetNeed need = {.min_agents = 1, .concurrency = 8, .case_id = "c8"};
  const FleetLack lack = LackOf(need, Agents(2, 3));
  EXPECT_THAT(lack.text, HasSubstr("case c8: concurrency 8 is more than the 2 "
                                   "agents take together (6)"));
  EXPECT_TRUE(lack.hard);
  EXPECT_EQ(LackOf(need, Agents(3, 3)).text, "");
}

TEST(FleetNeedTest, FewerAgentsThanWishedIsASoftLack) {
  const FleetNeed need = {.min_agents = 3, .concurrency = 8, .case_id = "c8"};
  const FleetLack lack = LackOf(need, Agents(2, 0));
  EXPECT_EQ(lack.text, "2 of 3 connected");
  EXPECT_FALSE(lack.hard);
}

}  // namespace
}  // namespace benchfleet
