// bench_floor: the least that a client can do. One connection per stream, one
// request each, epoll and recv until the server closes; nothing is parsed.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/flags.h"
#include "tests/bench/cpu_account.h"

namespace benchfleet::bench {
namespace {

int Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
      0) {
    std::perror("bench_floor: connect");
    std::exit(1);
  }
  return fd;
}

std::string Request(uint64_t tokens) {
  const std::string body =
      absl::StrCat("{\"model\":\"m\",\"prompt\":\"", std::string(200, 'x'),
                   "\",\"max_tokens\":", tokens, ",\"stream\":true}");
  return absl::StrCat(
      "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close"
      "\r\nContent-Type: application/json\r\nContent-Length: ",
      body.size(), "\r\n\r\n", body);
}

struct Counts {
  uint64_t bytes = 0, reads = 0, waits = 0;
};

Counts ReadAll(int epoll, uint64_t streams) {
  Counts counts;
  std::array<epoll_event, 256> events;
  std::array<char, 16384> buffer;
  for (uint64_t open = streams; open > 0;) {
    const int n = epoll_wait(epoll, events.data(), events.size(), -1);
    ++counts.waits;
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0) {
        ++counts.reads;
        counts.bytes += static_cast<uint64_t>(got);
      } else {
        close(fd);
        --open;
      }
    }
  }
  return counts;
}

int Main(int argc, char** argv) {
  uint64_t port = 0, streams = 1, tokens = 100;
  FlagSet flags("bench_floor [flags]", "epoll and recv, no parsing.");
  flags.Uint("port", &port, "of bench_source", 65535);
  flags.Uint("streams", &streams, "at once");
  flags.Uint("tokens", &tokens, "per stream");
  if (!flags.Parse(argc, argv).ok()) return 2;
  const RealClock clock;
  const Instant began = clock.Now();
  const double cpu_before = ProcessCpuSeconds();
  const std::string request = Request(tokens);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (uint64_t i = 0; i < streams; ++i) {
    const int fd = Connect(static_cast<uint16_t>(port));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return 1;
  }
  const Counts counts = ReadAll(epoll, streams);
  std::printf(
      "{\"events\":%llu,\"cpu_s\":%.6f,\"wall_s\":%.6f,\"bytes\":%llu,"
      "\"reads\":%llu,\"waits\":%llu}\n",
      static_cast<unsigned long long>(streams * tokens),
      ProcessCpuSeconds() - cpu_before,
      absl::ToDoubleSeconds(clock.Now() - began),
      static_cast<unsigned long long>(counts.bytes),
      static_cast<unsigned long long>(counts.reads),
      static_cast<unsigned long long>(counts.waits));
  return 0;
}

}  // namespace
}  // namespace benchfleet::bench

int main(int argc, char** argv) { return benchfleet::bench::Main(argc, argv); }
