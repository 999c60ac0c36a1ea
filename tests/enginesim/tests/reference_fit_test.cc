// The shipped profiles predict the measured medians of the engines that they
// are fitted to.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/enginesim/closed_loop.h"
#include "tests/enginesim/reference_table.h"

namespace benchfleet::enginesim {
namespace {

constexpr int kRounds = 9;
constexpr double kTurnaroundMs = 2;

// Largest relative difference, in the order of Figures().
struct Tolerance {
  const char* engine;
  double by_figure[6];
};
constexpr Tolerance kTolerances[] = {
    {"sglang", {0.02, 0.06, 0.06, 0.03, 0.03, 0.02}},
    {"vllm", {0.05, 0.15, 0.25, 0.10, 0.02, 0.05}},
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

TEST(ReferenceFitTest, BothEnginesArePredictedInAllCases) {
  const std::string folder = absl::StrCat(TESTS_SOURCE_DIR, "/enginesim/");
  const auto rows = ParseReferenceTable(
      ReadFile(folder + "tests/testdata/reference_medians.txt"));
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 22u);
  std::printf("predicted/measured\n%s\n", ComparisonHeader().c_str());
  for (const ReferenceRow& row : *rows) {
    const auto profile = ReadProfile(absl::StrCat(
        folder, "profiles/", row.engine, "-minimax-m3-h20.profile"));
    ASSERT_TRUE(profile.ok()) << profile.status();
    const Prediction predicted =
        PredictMedian(*profile, row.load, 1, kRounds, kTurnaroundMs);
    std::printf("%s\n", ComparisonLine(row, predicted).c_str());
    for (const Tolerance& tolerance : kTolerances) {
      if (row.engine != tolerance.engine) continue;
      for (size_t i = 0; i < Figures().size(); ++i) {
        const auto field = Figures()[i].field;
        EXPECT_NEAR(predicted.*field / (row.measured.*field), 1,
                    tolerance.by_figure[i])
            << row.engine << " " << row.case_id << " " << Figures()[i].name;
      }
    }
  }
}

TEST(ReferenceFitTest, ABadTableNamesItsLine) {
  EXPECT_EQ(ParseReferenceTable("# x\nvllm c 1 2\n").status().message(),
            "line 2 is no row of figures");
}

}  // namespace
}  // namespace benchfleet::enginesim
