#include "agent/load/timing_recorder.h"

#include <optional>
#include <utility>

namespace benchfleet {

void TimingRecorder::Record(v1::RequestTiming timing) {
  if (!queue_.TryPush(std::move(timing))) lost_.fetch_add(1);
}

std::vector<v1::RequestTiming> TimingRecorder::NextBatch(absl::Duration wait,
                                                         size_t max_bytes) {
  std::vector<v1::RequestTiming> batch;
  size_t bytes = 0;
  std::optional<v1::RequestTiming> next = queue_.Pop(wait);
  while (next) {
    bytes += next->ByteSizeLong();
    batch.push_back(*std::move(next));
    if (bytes >= max_bytes) break;
    next = queue_.Pop(absl::ZeroDuration());
  }
  return batch;
}

}  // namespace benchfleet
