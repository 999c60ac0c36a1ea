#include "coordinator/run/clock_offset.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace benchfleet {
namespace {

// An exchange with an agent whose clock shows `ahead` more than ours.
ClockExchange Exchange(int64_t ahead, int64_t there, int64_t back) {
  const int64_t asked = 5'000'000;
  const int64_t arrived = asked + there;
  const int64_t left = arrived + 300;
  return {asked, arrived + ahead, left + ahead, left + back};
}

TEST(ClockOffsetTest, EqualWaysGiveTheExactOffset) {
  for (int64_t ahead :
       {int64_t{0}, int64_t{1}, int64_t{-7}, int64_t{1'000'000'000'000},
        int64_t{-1'000'000'000'000}}) {
    const ClockSample sample = SampleOf(Exchange(ahead, 400, 400));
    EXPECT_EQ(sample.offset_ns, -ahead);
    EXPECT_EQ(sample.bound_ns, 400);
  }
}

TEST(ClockOffsetTest, TheErrorOfUnequalWaysIsWithinTheBound) {
  for (int64_t there : {0, 1, 10, 999}) {
    for (int64_t back : {0, 3, 10, 1000}) {
      const int64_t ahead = 123'456'789;
      const ClockSample sample = SampleOf(Exchange(ahead, there, back));
      EXPECT_LE(std::abs(sample.offset_ns + ahead), sample.bound_ns)
          << there << " " << back;
    }
  }
}

TEST(ClockOffsetTest, ClocksFarApartDoNotOverflow) {
  const int64_t far = INT64_MAX / 2;
  EXPECT_EQ(SampleOf(Exchange(far, 10, 10)).offset_ns, -far);
}

TEST(ClockOffsetTest, TheShortestRoundTripIsKept) {
  const ClockExchange exchanges[] = {
      Exchange(100, 900, 10), Exchange(100, 20, 20), Exchange(100, 5, 700)};
  EXPECT_EQ(BestSample(exchanges)->bound_ns, 20);
  EXPECT_EQ(BestSample(exchanges)->offset_ns, -100);
  EXPECT_FALSE(BestSample({}).has_value());
}

}  // namespace
}  // namespace benchfleet
