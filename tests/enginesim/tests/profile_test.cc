#include "tests/enginesim/profile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace benchfleet::enginesim {
namespace {

using ::testing::HasSubstr;

TEST(ProfileTest, ReadsBackWhatItPrints) {
  Profile profile;
  profile.scheduling = Scheduling::kPrefillFirst;
  profile.frontend_ms = 0.1;
  profile.prefill_ms_per_pair = 1.4e-6;
  profile.decode_ms = {{1, 6.5}, {8, 9.25}};
  const auto back = ParseProfile(ProfileText(profile));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ProfileText(*back), ProfileText(profile));
}

TEST(ProfileTest, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"# fine\nnonsense 3\n", "line 2: unknown key \"nonsense\""},
      {"frontend_ms fast\n", "line 1: \"fast\" is no number"},
      {"frontend_ms nan\n", "is no number"},
      {"chunk_tokens 0\n", "is no count"},
      {"decode_ms 8=2 4=1\n", "ascending"},
      {"decode_ms 8=0\n", "must be > 0"},
      {"decode_ms\n", "empty"},
      {"scheduling fifo\n", "prefill_first or mixed"},
      {"frontend_ms -1\n", "must not be negative"},
      {"chunk_tokens 8\n", "chunk_tokens must not be below"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(std::string(ParseProfile(text).status().message()),
                HasSubstr(message))
        << text;
}

TEST(ProfileTest, AMissingFileIsNamed) {
  EXPECT_THAT(std::string(ReadProfile("no/such.profile").status().message()),
              HasSubstr("no/such.profile"));
}

TEST(ProfileTest, TablesAreInterpolatedAndGoOn) {
  const StepTable table = {{4, 10}, {8, 20}};
  const std::pair<uint32_t, double> cases[] = {
      {1, 10}, {4, 10}, {5, 12.5}, {8, 20}, {12, 30}};
  for (const auto& [size, ms] : cases)
    EXPECT_DOUBLE_EQ(Interpolate(table, size), ms) << size;
}

TEST(ProfileTest, NumbersAreFoundByKey) {
  Profile profile;
  EXPECT_EQ(MutableNumber(profile, "jitter"), &profile.jitter);
  EXPECT_EQ(MutableNumber(profile, "decode_ms.32"),
            &profile.decode_ms[1].second);
  EXPECT_EQ(MutableNumber(profile, "decode_ms.33"), nullptr);
  EXPECT_EQ(MutableNumber(profile, "other"), nullptr);
}

}  // namespace
}  // namespace benchfleet::enginesim
