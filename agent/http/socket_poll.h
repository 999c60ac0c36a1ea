// Waiting for sockets, a time or a wake-up from another thread.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/clock.h"

namespace benchfleet {

// Lives on one thread, except Wake. Times are of the real CLOCK_MONOTONIC, to
// the nanosecond (epoll_wait's own are whole milliseconds).
class SocketPoll {
 public:
  struct Ready {
    int fd;
    bool readable;
    bool writable;
    bool failed;
  };

  static absl::StatusOr<std::unique_ptr<SocketPoll>> Create();
  ~SocketPoll();
  SocketPoll(const SocketPoll&) = delete;
  SocketPoll& operator=(const SocketPoll&) = delete;

  // Replaces what was watched of `fd` before.
  void Watch(int fd, bool read, bool write);
  void Forget(int fd);
  // Ready sockets, level-triggered; none when `until` came (which may be past)
  // or Wake was called. Valid until the next Wait.
  absl::Span<const Ready> Wait(Instant until);
  // Thread-safe.
  void Wake();

 private:
  SocketPoll() = default;
  // The timer rings at `until` or, so that most waits need no system call for
  // it, where it was set to before.
  void Arm(Instant until);
  // What epoll reported, of sockets.
  size_t Sort(int count, bool* woken);

  static constexpr int kBatch = 256;

  int epoll_ = -1;
  int timer_ = -1;
  int wake_ = -1;
  Instant armed_;  // {0}: not armed; never after what is waited for
  std::array<epoll_event, kBatch> events_;
  std::array<Ready, kBatch> ready_;
};

}  // namespace benchfleet
