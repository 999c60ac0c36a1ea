#include "agent/http/socket_poll.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "absl/status/status.h"

namespace benchfleet {
namespace {

void Drain(int fd) {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = read(fd, &count, sizeof(count));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SocketPoll>> SocketPoll::Create() {
  auto poll = std::unique_ptr<SocketPoll>(new SocketPoll());
  poll->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  poll->timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  poll->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (poll->epoll_ < 0 || poll->timer_ < 0 || poll->wake_ < 0) {
    return absl::ErrnoToStatus(errno,
                               "cannot wait for sockets (open-file limit?)");
  }
  poll->Watch(poll->timer_, true, false);
  poll->Watch(poll->wake_, true, false);
  return poll;
}

SocketPoll::~SocketPoll() {
  for (int fd : {epoll_, timer_, wake_}) {
    if (fd >= 0) close(fd);
  }
}

void SocketPoll::Watch(int fd, bool read, bool write) {
  epoll_event event{};
  event.events =
      (read ? uint32_t{EPOLLIN} : 0u) | (write ? uint32_t{EPOLLOUT} : 0u);
  event.data.fd = fd;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0 && errno == EEXIST) {
    epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
  }
}

void SocketPoll::Forget(int fd) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void SocketPoll::Arm(Instant until) {
  until.ns = std::max<int64_t>(until.ns, 1);  // 0 would disarm
  if (armed_.ns != 0 && armed_ <= until) return;
  constexpr int64_t kSecond = 1'000'000'000;
  itimerspec when{};
  when.it_value.tv_sec = until.ns / kSecond;
  when.it_value.tv_nsec = until.ns % kSecond;
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  armed_ = until;
}

absl::Span<const SocketPoll::Ready> SocketPoll::Wait(Instant until) {
  while (true) {
    Arm(until);
    const Instant rings = armed_;
    const int n = epoll_wait(epoll_, events_.data(), kBatch, -1);
    bool woken = false;
    const size_t count = Sort(n, &woken);
    const bool rang_early = armed_.ns == 0 && rings < until;
    if (count > 0 || woken || !rang_early) return {ready_.data(), count};
  }
}

size_t SocketPoll::Sort(int count, bool* woken) {
  size_t sockets = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<size_t>(i)];
    const int fd = event.data.fd;
    if (fd == timer_) {
      Drain(fd);
      armed_ = {};
    } else if (fd == wake_) {
      Drain(fd);
      *woken = true;
    } else {
      ready_[sockets++] = {fd, (event.events & EPOLLIN) != 0,
                           (event.events & EPOLLOUT) != 0,
                           (event.events & (EPOLLERR | EPOLLHUP)) != 0};
    }
  }
  return sockets;
}

void SocketPoll::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof(one));
}

}  // namespace benchfleet
