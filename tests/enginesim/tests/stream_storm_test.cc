// 1,000 streams at a time through one engine.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/enginesim/tests/engine_process.h"

namespace benchfleet::enginesim {
namespace {

constexpr size_t kStreams = 1000;
constexpr size_t kTokens = 20;

struct Stream {
  int fd = -1;
  std::string reply;
};

void RaiseDescriptorLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<Stream> Open(uint16_t port, int epoll) {
  const std::string request =
      Post("/v1/completions",
           R"({"prompt":"a b c","max_tokens":20,"ignore_eos":true,"stream":true,
          "stream_options":{"include_usage":true}})");
  std::vector<Stream> streams(kStreams);
  for (size_t i = 0; i < kStreams; ++i) {
    streams[i].fd = Connect(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    epoll_ctl(epoll, EPOLL_CTL_ADD, streams[i].fd, &event);
  }
  for (const Stream& stream : streams)
    send(stream.fd, request.data(), request.size(), MSG_NOSIGNAL);
  return streams;
}

// Reads until all streams have ended.
void Drain(int epoll, std::vector<Stream>& streams) {
  size_t open = streams.size();
  epoll_event events[256];
  char buffer[16384];
  while (open > 0) {
    const int count = epoll_wait(epoll, events, 256, 20'000);
    ASSERT_GT(count, 0) << open << " streams stand still";
    for (int i = 0; i < count; ++i) {
      Stream& stream = streams[events[i].data.u64];
      const ssize_t got = recv(stream.fd, buffer, sizeof buffer, 0);
      if (got > 0) {
        stream.reply.append(buffer, static_cast<size_t>(got));
        continue;
      }
      close(stream.fd);
      --open;
    }
  }
}

TEST(StreamStormTest, AThousandStreamsCompleteAtATime) {
  RaiseDescriptorLimit();
  const std::string truth = testing::TempDir() + "/enginesim_storm.jsonl";
  auto engine =
      EngineProcess::Start({"--max-running-requests=1000", "--truth=" + truth});
  ASSERT_NE(engine, nullptr);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Stream> streams = Open(engine->port(), epoll);
  Drain(epoll, streams);
  close(epoll);
  for (const Stream& stream : streams) {
    ASSERT_EQ(CountOf(stream.reply, "\"text\":"), kTokens);
    ASSERT_TRUE(absl::StrContains(stream.reply, "\"completion_tokens\":20}"));
    ASSERT_TRUE(absl::EndsWith(Dechunk(stream.reply), "data: [DONE]\n\n"));
  }
  EXPECT_EQ(engine->Stop(SIGTERM), 0);
  std::ifstream file(truth);
  std::string line;
  size_t most_open = 0, lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    most_open = std::max<size_t>(
        most_open, std::stoul(line.substr(line.find("\"open\":") + 7)));
  }
  EXPECT_EQ(lines, kStreams);
  EXPECT_EQ(most_open, kStreams);
}

}  // namespace
}  // namespace benchfleet::enginesim
