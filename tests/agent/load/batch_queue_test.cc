#include <gtest/gtest.h>

#include "agent/load/timing_recorder.h"

namespace benchfleet {
namespace {

v1::RequestTiming Timing(uint32_t ordinal, int tokens) {
  v1::RequestTiming timing;
  timing.set_ordinal(ordinal);
  for (int i = 0; i < tokens; ++i) timing.add_token_delta_ns(1'000'000);
  return timing;
}

TEST(TimingRecorderTest, BatchesAreBoundedAndInOrder) {
  TimingRecorder recorder(100);
  for (uint32_t i = 0; i < 10; ++i) recorder.Record(Timing(i, 1000));
  recorder.Close();
  uint32_t next = 0;
  while (!recorder.drained()) {
    const auto batch = recorder.NextBatch(absl::ZeroDuration(), 8000);
    EXPECT_LE(batch.size(), 3u);
    for (const auto& timing : batch) EXPECT_EQ(timing.ordinal(), next++);
  }
  EXPECT_EQ(next, 10u);
}

TEST(TimingRecorderTest, AFullRecorderCountsWhatItLost) {
  TimingRecorder recorder(2);
  for (uint32_t i = 0; i < 5; ++i) recorder.Record(Timing(i, 1));
  EXPECT_EQ(recorder.lost(), 3u);
}

}  // namespace
}  // namespace benchfleet
