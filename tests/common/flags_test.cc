#include "common/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() {
    flags_.String("name", &name_, "a name");
    flags_.Uint("count", &count_, "a count", 100);
    flags_.Bool("detach", &detach_, "a switch");
    flags_.Duration("wait", &wait_, "a time");
  }

  absl::StatusOr<std::vector<std::string>> Parse(
      std::vector<std::string> args) {
    args.insert(args.begin(), "program");
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    return flags_.Parse(static_cast<int>(argv.size()), argv.data());
  }

  FlagSet flags_{"program [flags]", "Does things."};
  std::string name_ = "x";
  uint64_t count_ = 2;
  bool detach_ = false;
  absl::Duration wait_ = absl::Seconds(10);
};

TEST_F(FlagsTest, ValuesAreSetAndOtherArgumentsAreReturnedInOrder) {
  auto rest =
      Parse({"a", "--name=n", "--count", "7", "b", "--detach", "--wait=1m30s"});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_THAT(*rest, ElementsAre("a", "b"));
  EXPECT_EQ(name_, "n");
  EXPECT_EQ(count_, 7u);
  EXPECT_TRUE(detach_);
  EXPECT_EQ(wait_, absl::Seconds(90));
}

TEST_F(FlagsTest, BadValuesAreRefusedByName) {
  for (const std::string bad :
       {"--count=-1", "--count=1x", "--count=101", "--count=", "--count=+1",
        "--wait=soon", "--wait=-1s", "--detach=maybe"}) {
    auto rest = Parse({bad});
    ASSERT_FALSE(rest.ok()) << bad;
    EXPECT_THAT(rest.status().message(),
                HasSubstr(bad.substr(0, bad.find('='))));
  }
}

TEST_F(FlagsTest, UnknownFlagsAndMissingValuesAreRefused) {
  EXPECT_THAT(Parse({"--nmae=n"}).status().message(), HasSubstr("--nmae=n"));
  EXPECT_THAT(Parse({"a", "--nmae=n", "b"}).status().message(),
              HasSubstr("--nmae=n"));
  EXPECT_THAT(Parse({"--name"}).status().message(),
              HasSubstr("--name needs a value"));
  EXPECT_THAT(Parse({"-x"}).status().message(), HasSubstr("-x"));
}

TEST_F(FlagsTest, HelpNamesEveryFlagWithItsDefault) {
  ASSERT_TRUE(Parse({"--help"}).ok());
  EXPECT_TRUE(flags_.help_asked());
  EXPECT_THAT(flags_.Help(), HasSubstr("--count\n      a count (default 2)"));
}

}  // namespace
}  // namespace benchfleet
