#include "coordinator/report/aggregate.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

CountedRound Round(uint32_t engine, uint32_t case_index,
                   std::optional<double> duration) {
  CountedRound row;
  row.round.engine = engine;
  row.round.case_index = case_index;
  row.result.completed = 8;
  row.result.metrics[0] = duration;
  return row;
}

TEST(AggregateTest, CasesComeInTheOrderOfTheirFirstRow) {
  const auto aggregates = AggregateRounds(
      {Round(1, 0, 3), Round(0, 5, 1), Round(1, 0, 1), Round(0, 0, 2)});
  ASSERT_EQ(aggregates.size(), 3u);
  EXPECT_EQ(aggregates[0].engine, 1u);
  EXPECT_EQ(aggregates[0].rounds, 2);
  EXPECT_EQ(aggregates[0].completed, 16);
  EXPECT_EQ(aggregates[0].metrics[0].median, 2);
  EXPECT_EQ(aggregates[0].metrics[0].min, 1);
  EXPECT_EQ(aggregates[0].metrics[0].max, 3);
  EXPECT_EQ(aggregates[1].case_index, 5u);
  EXPECT_EQ(aggregates[2].case_index, 0u);
}

TEST(AggregateTest, AbsentFiguresAreLeftOut) {
  const auto aggregates = AggregateRounds(
      {Round(0, 0, std::nullopt), Round(0, 0, 4), Round(0, 0, 6)});
  EXPECT_EQ(aggregates[0].rounds, 3);
  EXPECT_EQ(aggregates[0].metrics[0].median, 5);
  EXPECT_EQ(aggregates[0].metrics[1].median, std::nullopt);
  EXPECT_EQ(aggregates[0].metrics[1].max, std::nullopt);
}

TEST(AggregateTest, NoRoundsAreNoCases) {
  EXPECT_TRUE(AggregateRounds({}).empty());
}

}  // namespace
}  // namespace benchfleet
