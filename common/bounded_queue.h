// A queue between threads with a bound.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace benchfleet {

// Thread-safe. What a full queue means is the caller's decision: Push waits,
// TryPush refuses. Once closed it takes nothing more and hands out the rest.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  // False if full or closed; `item` is then untouched.
  bool TryPush(T&& item) {
    MutexLock lock(mutex_);
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  // Waits for room. False if closed.
  bool Push(T&& item) {
    MutexLock lock(mutex_);
    while (!closed_ && items_.size() >= capacity_) not_full_.Wait(mutex_);
    if (closed_) return false;
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  // Waits up to `timeout`. Absent: none came, or closed and empty.
  std::optional<T> Pop(absl::Duration timeout) {
    MutexLock lock(mutex_);
    if (items_.empty() && !closed_) not_empty_.WaitFor(mutex_, timeout);
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    not_full_.NotifyOne();
    return item;
  }

  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
    closed_changed_.NotifyAll();
  }

  // Waits up to `timeout` for Close; true if closed.
  bool WaitClosed(absl::Duration timeout) {
    MutexLock lock(mutex_);
    if (!closed_) closed_changed_.WaitFor(mutex_, timeout);
    return closed_;
  }

  bool closed_and_empty() const {
    MutexLock lock(mutex_);
    return closed_ && items_.empty();
  }

 private:
  const size_t capacity_;
  mutable Mutex mutex_;
  CondVar not_empty_, not_full_, closed_changed_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace benchfleet
