#include "common/random.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(RandomTest, SequenceIsFixedForever) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdaf);  // splitmix64's published first
  EXPECT_EQ(random.Next(), 0x6e789e6aa1b965f4);
}

TEST(RandomTest, BelowStaysBelowAndReachesEveryValue) {
  Random random(1);
  int seen[7] = {};
  for (int i = 0; i < 7000; ++i) ++seen[random.Below(7)];
  for (int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(RandomTest, DerivedSeedsDependOnEachPartAndOrder) {
  EXPECT_NE(DeriveSeed({1, 2}), DeriveSeed({2, 1}));
  EXPECT_NE(DeriveSeed({1, 2}), DeriveSeed({1, 3}));
  EXPECT_NE(DeriveSeed({1}), DeriveSeed({1, 0}));
  EXPECT_EQ(DeriveSeed({1, 2}), DeriveSeed({1, 2}));
}

}  // namespace
}  // namespace benchfleet
