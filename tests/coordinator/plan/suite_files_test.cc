// The suites that come with the product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/plan_text.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Plan PlanOf(const std::string& name) {
  const ParsedSuite parsed =
      ParseSuite(ReadFile(absl::StrCat(SOURCE_ROOT, "/deploy/suites/", name)));
  EXPECT_THAT(FormatProblems(name, parsed.problems), IsEmpty());
  return MakePlan(parsed.suite, 1);
}

TEST(SuiteFilesTest, EachHasNoProblems) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(SOURCE_ROOT, "/deploy/suites"))) {
    PlanOf(entry.path().filename().string());
    ++count;
  }
  EXPECT_GE(count, 3);
}

TEST(SuiteFilesTest, TheReferencesSuiteGivesTheReferencesCases) {
  const Plan plan = PlanOf("minimax-m3-h20.pb.txt");
  std::vector<std::string> got;
  for (const PlannedRound& round : plan.rounds) {
    const PlannedCase& planned = plan.cases[round.case_index];
    if (round.repeat != 1) continue;
    got.push_back(absl::StrCat(
        plan.suite.engines(static_cast<int>(round.engine)).name(), ",",
        planned.id, ",", planned.input_tokens, ",", planned.output_tokens, ",",
        planned.concurrency, ",", planned.requests));
  }
  const std::vector<std::string> wanted = absl::StrSplit(
      ReadFile(
          absl::StrCat(TESTS_SOURCE_DIR, "/testdata/minimax_m3_h20_cases.csv")),
      '\n', absl::SkipEmpty());
  ASSERT_EQ(wanted.size(), 23u);
  EXPECT_THAT(got, ElementsAreArray(wanted.begin() + 1, wanted.end()));
}

TEST(SuiteFilesTest, TheReferencesSuiteHasTheReferencesTotals) {
  const Plan plan = PlanOf("minimax-m3-h20.pb.txt");
  EXPECT_EQ(plan.rounds.size(), 66u);
  EXPECT_EQ(plan.TotalRequests(), 7908u);
  EXPECT_EQ(plan.suite.model(), "MiniMax-M3");
  EXPECT_EQ(plan.suite.precision(), "BF16");
  EXPECT_EQ(plan.suite.hardware(), "8x NVIDIA H20-3e");
  EXPECT_EQ(plan.suite.context_window(), 32768u);
  EXPECT_EQ(plan.suite.max_running_requests(), 32u);
  EXPECT_EQ(plan.suite.tensor_parallel_size(), 8u);
  const uint32_t agents[] = {3};
  const std::string text = PlanText(plan, agents);
  EXPECT_THAT(text, HasSubstr("66 rounds"));
  EXPECT_THAT(text, HasSubstr("7,908 requests"));
}

TEST(SuiteFilesTest, TheSmallestSuiteIsTheSettledOne) {
  const Plan plan = PlanOf("smallest.pb.txt");
  ASSERT_EQ(plan.rounds.size(), 3u);
  EXPECT_EQ(plan.cases[0].id, "short-128-64-c4");
  EXPECT_EQ(plan.cases[0].requests, 64u);
}

TEST(SuiteFilesTest, TheQuickstartHasTwoEnginesAndThreeCases) {
  const Plan plan = PlanOf("quickstart.pb.txt");
  EXPECT_EQ(plan.rounds.size(), 2u * 3u * 3u);
  for (const PlannedCase& planned : plan.cases) {
    EXPECT_GT(planned.warmup_requests, 0u);
  }
}

}  // namespace
}  // namespace benchfleet
