#include "coordinator/cli/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/suite_file.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kReference[] =
    SOURCE_ROOT "/deploy/suites/minimax-m3-h20.pb.txt";

class CheckTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> args) {
    args.insert(args.begin(), "check");
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = RunCheck(static_cast<int>(argv.size()), argv.data());
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "check_test_" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string out_;
  std::string err_;
};

TEST_F(CheckTest, TheReferencesSuiteHas66RoundsAnd7908Requests) {
  EXPECT_EQ(Run({kReference}), kExitPass);
  EXPECT_THAT(out_, HasSubstr("66 rounds"));
  EXPECT_THAT(out_, HasSubstr("7,908 requests"));
  EXPECT_THAT(out_, HasSubstr("over 3 agents"));
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(CheckTest, AgentsMayBeOneNumberOrSome) {
  EXPECT_EQ(Run({kReference, "--agents=2"}), kExitPass);
  EXPECT_THAT(out_, HasSubstr("16+16"));
  EXPECT_EQ(Run({"--agents=1,10", kReference}), kExitPass);
  EXPECT_THAT(out_, HasSubstr("over 1 agent  over 10 agents"));
  for (const char* bad : {"0", "-1", "x", "", "1,", "1,2,3,4,5", "10001"}) {
    EXPECT_EQ(Run({std::string("--agents=") + bad, kReference}), kExitUsage);
    EXPECT_THAT(err_, HasSubstr("--agents=")) << bad;
    EXPECT_THAT(out_, IsEmpty());
  }
}

TEST_F(CheckTest, ProblemsGoToStandardErrorWithTheFilesName) {
  const std::string path = Write("bad", "name: \"x\"\nrepets: 3\n");
  EXPECT_EQ(Run({path}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr(path + ":2:1: unknown field \"repets\""));
  EXPECT_THAT(err_, HasSubstr(path + ": no engine"));
  EXPECT_THAT(out_, IsEmpty());
}

TEST_F(CheckTest, WhatIsNoFileGetsOneMessage) {
  EXPECT_EQ(Run({::testing::TempDir()}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("is a directory"));
  EXPECT_EQ(Run({"/nonexistent/suite"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("cannot read /nonexistent/suite: No such file"));
  EXPECT_EQ(Run({Write("long", std::string(6 << 20, ' '))}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("1048576 bytes (1 MiB)"));
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
}

TEST_F(CheckTest, ASuiteOfTheGreatestSizeIsRead) {
  const std::string path = Write("limit", std::string(kMaxSuiteBytes, '#'));
  const auto text = ReadSuiteFile(path);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->size(), kMaxSuiteBytes);
}

TEST_F(CheckTest, WrongUseIsExplained) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("name one suite file"));
  EXPECT_EQ(Run({kReference, kReference}), kExitUsage);
  EXPECT_EQ(Run({"--agnets=3", kReference}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--agnets=3"));
  EXPECT_EQ(Run({"--help"}), kExitPass);
  EXPECT_THAT(out_, StartsWith("coordinator check SUITE.pb.txt"));
}

}  // namespace
}  // namespace benchfleet
