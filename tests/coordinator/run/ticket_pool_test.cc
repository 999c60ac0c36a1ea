#include "coordinator/run/ticket_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace benchfleet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TicketPoolTest, EveryOrdinalIsHandedOutOnce) {
  TicketPool pool(100, 7);
  std::set<uint32_t> seen;
  for (uint32_t turn = 0; !pool.exhausted(); ++turn) {
    for (uint32_t ordinal : pool.Draw(turn % 4, 5)) {
      EXPECT_TRUE(seen.insert(ordinal).second) << ordinal;
    }
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(*seen.rbegin(), 99u);
  EXPECT_THAT(pool.Draw(3, 3), IsEmpty());
}

TEST(TicketPoolTest, WhileThereIsPlentyALeaseIsAsLargeAsAsked) {
  TicketPool pool(100, 4);
  EXPECT_EQ(pool.Draw(0, 8).size(), 8u);
  EXPECT_FALSE(pool.running_low());
}

TEST(TicketPoolTest, BelowTwoPerSlotOnlyIdleSlotsGetTickets) {
  TicketPool pool(9, 4);
  EXPECT_THAT(pool.Draw(0, 4), ElementsAre(0));  // down to the low water mark
  EXPECT_FALSE(pool.running_low());
  EXPECT_THAT(pool.Draw(0, 4), IsEmpty());
  EXPECT_THAT(pool.Draw(1, 4), ElementsAre(1));
  EXPECT_TRUE(pool.running_low());
  EXPECT_THAT(pool.Draw(2, 4), ElementsAre(2, 3));
}

TEST(TicketPoolTest, FewerRequestsThanSlotsAreAllHandedOut) {
  TicketPool pool(2, 8);
  EXPECT_THAT(pool.Draw(8, 8), ElementsAre(0, 1));
  EXPECT_TRUE(pool.exhausted());
}

}  // namespace
}  // namespace benchfleet
