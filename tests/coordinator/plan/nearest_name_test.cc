#include "coordinator/plan/nearest_name.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(NearestNameTest, DistanceCountsEditsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("abc", "ABC"), 0);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("nmae", "name"), 1);
  EXPECT_EQ(EditDistance("concurency", "concurrency"), 1);
}

TEST(NearestNameTest, NearNamesAreFoundAndFarOnesNot) {
  const std::vector<std::string> known = {"id", "input_tokens", "requests",
                                          "warmup_requests", "api_key_env"};
  EXPECT_EQ(NearestName("input_token", known), "input_tokens");
  EXPECT_EQ(NearestName("num_requests", known), "requests");
  EXPECT_EQ(NearestName("api_key", known), "api_key_env");
  EXPECT_EQ(NearestName("warmup", known), "warmup_requests");
  EXPECT_EQ(NearestName("ID", known), "id");
  EXPECT_EQ(NearestName("banana", known), "");
  EXPECT_EQ(NearestName("", known), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), known), "");
}

}  // namespace
}  // namespace benchfleet
