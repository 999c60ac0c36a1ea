#include "coordinator/report/statistic.h"

#include <gtest/gtest.h>

#include <cmath>

namespace benchfleet {
namespace {

TEST(StatisticTest, PercentilesOfFewSamplesAreNumpys) {
  struct Row {
    std::vector<double> samples;
    double p50, p95, p99;
  };
  const Row rows[] = {{{42}, 42, 42, 42},
                      {{100, 200}, 150, 195, 199},
                      {{10, 20, 30}, 20, 29, 29.8},
                      {{10, 20, 30, 40}, 25, 38.5, 39.7},
                      {{7, 7, 7, 100}, 7, 86.05, 97.21}};
  for (const Row& row : rows) {
    EXPECT_NEAR(*Percentile(row.samples, 0.50), row.p50, 1e-12 * row.p50);
    EXPECT_NEAR(*Percentile(row.samples, 0.95), row.p95, 1e-12 * row.p95);
    EXPECT_NEAR(*Percentile(row.samples, 0.99), row.p99, 1e-12 * row.p99);
  }
}

TEST(StatisticTest, NoPercentileIsAboveTheMaximumOrBelowTheMinimum) {
  const std::vector<double> samples = {0.1, 0.3, 0.7000000000000001, 1.1};
  for (int i = 0; i <= 1000; ++i) {
    const double value = *Percentile(samples, i / 1000.0);
    EXPECT_GE(value, samples.front());
    EXPECT_LE(value, samples.back());
  }
}

TEST(StatisticTest, NoSamplesHaveNoFigure) {
  EXPECT_EQ(Percentile({}, 0.5), std::nullopt);
  EXPECT_EQ(Mean({}), std::nullopt);
  EXPECT_EQ(Median({}), std::nullopt);
}

TEST(StatisticTest, MedianOfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(Median({3, 1}), 2);
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(Median({4, 1, 3, 100}), 3.5);
}

TEST(StatisticTest, MeanKeepsSmallSamplesBesideLargeOnes) {
  EXPECT_EQ(Mean({1e16, 1, 1, -1e16}), 0.5);
  EXPECT_EQ(Mean(std::vector<double>(10, 0.1)), 0.1);
}

}  // namespace
}  // namespace benchfleet
