#include "agent/http/model_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(ModelListTest, IdsAreInTheirOrder) {
  const auto ids = ParseModelIds(
      R"({"object":"list","data":[{"id":"b","x":1},{"id":"a"}]})");
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(*ids, testing::ElementsAre("b", "a"));
  EXPECT_TRUE(ParseModelIds(R"({"data":[]})")->empty());
}

// The null one was found by fuzzing.
TEST(ModelListTest, AnythingElseIsSaidToBeNone) {
  for (absl::string_view body :
       {absl::string_view(), absl::string_view(""), absl::string_view("{}"),
        absl::string_view("<html>"), absl::string_view(R"({"data":{}})"),
        absl::string_view(R"({"data":[{"name":"m"}]})"),
        absl::string_view(R"({"data":[{"id":1}]})")}) {
    EXPECT_FALSE(ParseModelIds(body).ok()) << body;
  }
}

}  // namespace
}  // namespace benchfleet
