#include "coordinator/run/run_board.h"

namespace benchfleet {

void RunBoard::Update(int64_t run_id,
                      const std::function<void(v1::RunProgress&)>& edit) {
  MutexLock lock(mutex_);
  Posted& posted = runs_[run_id];
  posted.progress.set_run_id(run_id);
  edit(posted.progress);
  ++posted.version;
  changed_.NotifyAll();
}

std::optional<RunBoard::Posted> RunBoard::WaitForNews(int64_t run_id,
                                                      uint64_t seen,
                                                      absl::Duration timeout) {
  MutexLock lock(mutex_);
  auto found = runs_.find(run_id);
  if (found == runs_.end()) return std::nullopt;
  if (found->second.version <= seen) changed_.WaitFor(mutex_, timeout);
  if (found->second.version <= seen) return std::nullopt;
  return found->second;
}

bool RunBoard::Has(int64_t run_id) const {
  MutexLock lock(mutex_);
  return runs_.contains(run_id);
}

bool IsUnfinished(v1::RunState state) {
  return state == v1::QUEUED || state == v1::RUNNING;
}

}  // namespace benchfleet
