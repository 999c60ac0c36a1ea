#include "agent/http/lag_histogram.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(LagHistogramTest, NothingIsZero) {
  EXPECT_EQ(LagHistogram().Percentile(0.99), 0);
}

TEST(LagHistogramTest, EveryDelayIsFoundAgainAtMostAnEighthTooLarge) {
  for (int64_t ns = 1; ns < (int64_t{1} << 61); ns += ns / 8 + 1) {
    LagHistogram lag;
    lag.Add(ns);
    EXPECT_GE(lag.Percentile(0.99), ns);
    EXPECT_LE(lag.Percentile(0.99), ns + ns / 8);
  }
}

TEST(LagHistogramTest, PercentilesSplitTheDelaysByCount) {
  LagHistogram lag;
  for (int i = 0; i < 98; ++i) lag.Add(5);
  lag.Add(-1);
  lag.Add(1'000'000);
  EXPECT_EQ(lag.Percentile(0.5), 5);
  EXPECT_EQ(lag.Percentile(0.99), 5);
  EXPECT_GE(lag.Percentile(1), 1'000'000);
}

}  // namespace
}  // namespace benchfleet
