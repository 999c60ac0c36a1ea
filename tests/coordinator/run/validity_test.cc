#include "coordinator/run/validity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

using ::testing::HasSubstr;

class ValidityTest : public ::testing::Test {
 protected:
  ValidityTest() {
    attempt_.requests = 4;
    for (const char* agent : {"a", "b"}) {
      ShareRow share;
      share.agent_id = agent;
      share.first_sent_ns = 1'000'000'000;
      share.manifest.set_records(2);
      share.evidence.set_loop_wall_ns(1'000'000'000);
      share.evidence.set_loop_cpu_ns(100'000'000);
      share.evidence.set_longest_stall_ns(3'000'000);
      shares_.push_back(share);
    }
    for (uint32_t ordinal = 0; ordinal < 4; ++ordinal) {
      StoredTiming stored{.agent_id = "a", .timing = {}};
      stored.timing.set_ordinal(ordinal);
      stored.timing.set_outcome(v1::COMPLETED);
      for (int i = 0; i < 5; ++i) stored.timing.add_token_delta_ns(1000);
      timings_.push_back(stored);
    }
  }

  std::string Broken() {
    return BrokenRules(JudgeAttempt(attempt_, shares_, timings_, {}));
  }

  AttemptRow attempt_;
  std::vector<ShareRow> shares_;
  std::vector<StoredTiming> timings_;
};

TEST_F(ValidityTest, AFairAttemptBreaksNoRule) {
  const auto rules = JudgeAttempt(attempt_, shares_, timings_, {});
  EXPECT_EQ(BrokenRules(rules), "");
  EXPECT_EQ(rules.size(), 8u);  // 4 of the attempt, 2 of each agent
}

TEST_F(ValidityTest, AMissingOrDoubleRecordIsFound) {
  timings_.pop_back();
  EXPECT_THAT(Broken(), HasSubstr("records: 3, limit 4"));
  timings_.push_back(timings_.back());
  EXPECT_THAT(Broken(), HasSubstr("records"));
}

TEST_F(ValidityTest, AManifestThatPromisesMoreIsFound) {
  shares_[0].manifest.set_records(3);
  EXPECT_THAT(Broken(), HasSubstr("records"));
}

TEST_F(ValidityTest, ACancelledRequestIsFound) {
  timings_[1].timing.set_outcome(v1::CANCELLED);
  EXPECT_THAT(Broken(), HasSubstr("cancelled: 1"));
}

TEST_F(ValidityTest, AStalledClientIsNamed) {
  shares_[1].evidence.set_longest_stall_ns(400'000'000);
  EXPECT_EQ(Broken(), "client_stall_ms on b: 400, limit 100");
}

TEST_F(ValidityTest, ABusyLoopIsNamed) {
  shares_[0].evidence.set_loop_cpu_ns(900'000'000);
  EXPECT_EQ(Broken(), "loop_cpu_share on a: 0.9, limit 0.8");
}

TEST_F(ValidityTest, LateStartsAreSeenOnTheCoordinatorsTimeline) {
  shares_[1].first_sent_ns += 1'000'000'000'000;
  shares_[1].clock_offset_ns = -1'000'000'000'000;
  EXPECT_EQ(StartSkewNs(shares_), 0);
  EXPECT_EQ(Broken(), "");
  shares_[1].first_sent_ns += 60'000'000;
  EXPECT_THAT(Broken(), HasSubstr("start_skew_ms: 60"));
}

TEST_F(ValidityTest, ABufferedStreamIsFound) {
  for (StoredTiming& stored : timings_) stored.timing.set_coalesced(2);
  EXPECT_EQ(Broken(), "");  // exactly half
  for (StoredTiming& stored : timings_) stored.timing.set_coalesced(3);
  EXPECT_THAT(Broken(), HasSubstr("stream_buffered: 0.75"));
}

}  // namespace
}  // namespace benchfleet
