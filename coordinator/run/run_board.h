// The state of each run of this process, for those who watch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "benchfleet/v1/control.pb.h"
#include "common/mutex.h"

namespace benchfleet {

// Thread-safe.
class RunBoard {
 public:
  struct Posted {
    v1::RunProgress progress;
    uint64_t version = 0;
  };

  void Update(int64_t run_id,
              const std::function<void(v1::RunProgress&)>& edit);
  // Waits up to `timeout` for a version above `seen`. Absent: no such run here,
  // or nothing new.
  std::optional<Posted> WaitForNews(int64_t run_id, uint64_t seen,
                                    absl::Duration timeout);
  bool Has(int64_t run_id) const;

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<int64_t, Posted> runs_ ABSL_GUARDED_BY(mutex_);
};

// QUEUED or RUNNING.
bool IsUnfinished(v1::RunState state);

}  // namespace benchfleet
