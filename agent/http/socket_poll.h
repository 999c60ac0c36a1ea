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
  // Ready sockets, level-triggered; none when `until` came or Wake was called.
  // Does not wait if `until` is not after `now`. Valid until the next Wait.
  absl::Span<const Ready> Wait(Instant until, Instant now);
  // Thread-safe.
  void Wake();

 private:
  SocketPoll() = default;
  void Arm(Instant until);

  static constexpr int kBatch = 256;

  int epoll_ = -1;
  int timer_ = -1;
  int wake_ = -1;
  Instant armed_;  // {0}: not armed
  std::array<epoll_event, kBatch> events_;
  std::array<Ready, kBatch> ready_;
};

}  // namespace benchfleet
