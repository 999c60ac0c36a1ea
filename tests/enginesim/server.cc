#include "tests/enginesim/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace benchfleet::enginesim {
namespace {

// epoll tags; connections come after.
constexpr uint64_t kListenerTag = 0, kTimerTag = 1, kSignalTag = 2;
constexpr int kBacklog = 4096;
constexpr size_t kReadBytes = 64 << 10;
// Bytes that wait behind a request in work, before reading stops.
constexpr size_t kMaxUnparsed = 256 << 10;
// A client that leaves this much unread is cut off.
constexpr size_t kMaxUnsent = 4 << 20;

absl::Status Errno(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

void Control(int epoll, int op, int fd, uint64_t tag, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  epoll_ctl(epoll, op, fd, &event);
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Server::Server(const Clock& clock, Fd listener, uint16_t port)
    : clock_(clock),
      listener_(std::move(listener)),
      port_(port),
      next_id_(kSignalTag + 1) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(const std::string& host,
                                                       uint16_t port,
                                                       const Clock& clock) {
  const std::string where = absl::StrCat("listen on ", host, ":", port);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": not an IPv4 address"));
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return Errno(where);
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd.get(), any, size) != 0 || listen(fd.get(), kBacklog) != 0 ||
      getsockname(fd.get(), any, &size) != 0)
    return Errno(where);
  std::unique_ptr<Server> server(
      new Server(clock, std::move(fd), ntohs(address.sin_port)));
  RETURN_IF_ERROR(server->Init());
  return server;
}

absl::Status Server::Init() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  timer_ = Fd(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  signals_ = Fd(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (epoll_.get() < 0 || timer_.get() < 0 || signals_.get() < 0)
    return Errno("event loop");
  const int epoll = epoll_.get();
  Control(epoll, EPOLL_CTL_ADD, listener_.get(), kListenerTag, EPOLLIN);
  Control(epoll, EPOLL_CTL_ADD, timer_.get(), kTimerTag, EPOLLIN);
  Control(epoll, EPOLL_CTL_ADD, signals_.get(), kSignalTag, EPOLLIN);
  return absl::OkStatus();
}

absl::Status Server::Run(EngineService& service) {
  epoll_event events[256];
  while (!stop_ && !service.dead()) {
    service.Advance(clock_.Now());
    SettleAll(service);
    const Instant deadline = service.NextDeadline();
    const bool late = deadline <= clock_.Now();
    if (!late) SetTimer(deadline);
    // When late, sockets still get their turn between two steps.
    const int count = epoll_wait(epoll_.get(), events, 256, late ? 0 : -1);
    if (count < 0 && errno != EINTR) return Errno("epoll_wait");
    // Tokens that are due do not wait for what came in meanwhile.
    if (count > 0) service.Advance(clock_.Now());
    for (int i = 0; i < count; ++i)
      Turn(service, events[i].data.u64, events[i].events);
    SettleAll(service);
  }
  service.Shutdown();
  return service.dead() ? absl::AbortedError("--exit-after-requests is reached")
                        : absl::OkStatus();
}

void Server::Turn(EngineService& service, uint64_t tag, uint32_t events) {
  switch (tag) {
    case kListenerTag:
      return Accept();
    case kSignalTag:
      stop_ = true;
      return;
    case kTimerTag: {
      uint64_t expirations = 0;
      if (read(timer_.get(), &expirations, sizeof expirations) > 0)
        timer_at_ = EngineService::kNever;
      return;
    }
    default:
      OnReady(service, tag, events);
  }
}

void Server::SetTimer(Instant deadline) {
  if (deadline == timer_at_) return;
  timer_at_ = deadline;
  itimerspec spec{};  // all zero: off
  if (deadline != EngineService::kNever) {
    spec.it_value.tv_sec = deadline.ns / 1'000'000'000;
    spec.it_value.tv_nsec = deadline.ns % 1'000'000'000;
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Server::Accept() {
  while (true) {
    Fd fd(accept4(listener_.get(), nullptr, nullptr,
                  SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0) {
      // Out of descriptors: the backlog holds them until one is free.
      if (errno == EMFILE || errno == ENFILE) PauseAccepting(true);
      if (errno != ECONNABORTED) return;
      continue;
    }
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const uint64_t id = next_id_++;
    auto connection = std::make_unique<Connection>();
    connection->fd = std::move(fd);
    connection->events = EPOLLIN | EPOLLRDHUP;
    Control(epoll_.get(), EPOLL_CTL_ADD, connection->fd.get(), id,
            connection->events);
    connections_.emplace(id, std::move(connection));
  }
}

void Server::PauseAccepting(bool paused) {
  if (accepting_ == !paused) return;
  accepting_ = !paused;
  Control(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), kListenerTag,
          paused ? 0u : static_cast<uint32_t>(EPOLLIN));
}

void Server::OnReady(EngineService& service, uint64_t id, uint32_t events) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  Connection& connection = *it->second;
  if ((events & EPOLLOUT) != 0) Flush(connection);
  // Like the real ones, a client that closed its half has gone.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 ||
      (connection.busy && (events & EPOLLRDHUP) != 0)) {
    connection.gone = true;
  } else if ((events & EPOLLIN) != 0) {
    Read(service, id, connection);
  }
  Settle(service, id);
}

void Server::Read(EngineService& service, uint64_t id, Connection& connection) {
  char buffer[kReadBytes];
  const ssize_t got = recv(connection.fd.get(), buffer, sizeof buffer, 0);
  const Instant arrival = clock_.Now();
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    connection.gone = true;
    return;
  }
  const absl::string_view bytes(buffer, static_cast<size_t>(got));
  if (connection.busy || connection.closing) {
    if (!connection.closing)
      connection.unparsed.append(bytes.data(), bytes.size());
    return;
  }
  Parse(service, id, connection, bytes, arrival);
}

void Server::Parse(EngineService& service, uint64_t id, Connection& connection,
                   absl::string_view bytes, Instant arrival) {
  bytes.remove_prefix(connection.parser.Feed(bytes));
  if (connection.parser.error_status() != 0) {
    service.Refuse(id, connection.parser.error_status());
    return;
  }
  if (!connection.parser.done()) {
    if (connection.parser.wants_continue() && !connection.continued) {
      connection.continued = true;
      Send(id, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    return;
  }
  connection.unparsed.assign(bytes.data(), bytes.size());
  connection.busy = true;
  connection.continued = false;
  service.Handle(id, connection.parser.Take(), arrival);
}

void Server::Send(uint64_t id, absl::string_view bytes) {
  const auto it = connections_.find(id);
  if (it == connections_.end() || it->second->gone) return;
  Connection& connection = *it->second;
  if (connection.unsent.empty()) {
    const ssize_t sent = send(connection.fd.get(), bytes.data(), bytes.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(bytes.size())) return;
    touched_.push_back(id);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      connection.gone = true;
      return;
    }
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  connection.unsent.append(bytes.data(), bytes.size());
  if (connection.unsent.size() > kMaxUnsent) {
    connection.gone = true;
    touched_.push_back(id);
  }
}

void Server::Finish(uint64_t id, bool keep_alive) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  it->second->busy = false;
  it->second->closing = !keep_alive;
  touched_.push_back(id);
}

void Server::Reset(uint64_t id) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  const linger now{1, 0};
  setsockopt(it->second->fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  it->second->gone = true;
  touched_.push_back(id);
}

void Server::Flush(Connection& connection) {
  if (connection.unsent.empty()) return;
  const ssize_t sent =
      send(connection.fd.get(), connection.unsent.data(),
           connection.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) connection.gone = true;
  if (sent > 0) connection.unsent.erase(0, static_cast<size_t>(sent));
}

void Server::Watch(uint64_t id, Connection& connection) {
  uint32_t events = EPOLLRDHUP;
  if (connection.unparsed.size() < kMaxUnparsed) events |= EPOLLIN;
  if (!connection.unsent.empty()) events |= EPOLLOUT;
  if (events == connection.events) return;
  connection.events = events;
  Control(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), id, events);
}

// Serves pipelined requests, then erases the connection or watches it on.
void Server::Settle(EngineService& service, uint64_t id) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  Connection& connection = *it->second;
  while (!connection.gone && !connection.busy && !connection.closing &&
         !connection.unparsed.empty()) {
    const std::string bytes = std::exchange(connection.unparsed, "");
    Parse(service, id, connection, bytes, clock_.Now());
  }
  if (!connection.gone && connection.closing && connection.unsent.empty()) {
    // Closed only once the client has: closing over unread bytes would reset
    // the connection, and the reply with it.
    if (!connection.half_closed) shutdown(connection.fd.get(), SHUT_WR);
    connection.half_closed = true;
  }
  if (!connection.gone) return Watch(id, connection);
  service.ClientClosed(id);
  connections_.erase(it);
  PauseAccepting(false);
}

void Server::SettleAll(EngineService& service) {
  while (!touched_.empty()) {
    const std::vector<uint64_t> ids = std::exchange(touched_, {});
    for (uint64_t id : ids) Settle(service, id);
  }
}

}  // namespace benchfleet::enginesim
