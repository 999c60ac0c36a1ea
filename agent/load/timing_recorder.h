// The way of finished requests out of the load loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "benchfleet/v1/timing.pb.h"
#include "common/bounded_queue.h"

namespace benchfleet {

// Record and Close are the loop's, NextBatch is the sender's. The loop never
// waits here: a full recorder loses the record and says so in `lost`, which
// makes the attempt INVALID.
class TimingRecorder {
 public:
  explicit TimingRecorder(size_t capacity) : queue_(capacity) {}

  void Record(v1::RequestTiming timing);
  void Close() { queue_.Close(); }
  uint64_t lost() const { return lost_.load(); }

  // Waits up to `wait` for a first record, then takes what is there, up to
  // about `max_bytes`. Empty: none came.
  std::vector<v1::RequestTiming> NextBatch(absl::Duration wait,
                                           size_t max_bytes);
  // Closed and all taken.
  bool drained() const { return queue_.closed_and_empty(); }

 private:
  BoundedQueue<v1::RequestTiming> queue_;
  std::atomic<uint64_t> lost_{0};
};

}  // namespace benchfleet
