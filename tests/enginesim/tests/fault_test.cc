#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/enginesim/tests/engine_process.h"

namespace benchfleet::enginesim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kRequest =
    Post("/v1/completions",
         R"({"prompt":"a","max_tokens":10,"ignore_eos":true,"stream":true})");

TEST(FaultTest, EveryNthRequestFailsInItsWay) {
  struct Case {
    const char* kind;
    const char* part;
    size_t tokens;
  };
  for (const Case& c :
       {Case{"http500", "HTTP/1.1 500 ", 0}, Case{"html", "<html>", 0},
        Case{"stream_error", "data: {\"error\":{", 5},
        Case{"reset", "<reset>", 5}}) {
    SCOPED_TRACE(c.kind);
    auto engine = EngineProcess::Start({"--time-scale=100", "--fail-every=2",
                                        std::string("--fail-kind=") + c.kind});
    ASSERT_NE(engine, nullptr);
    for (int round = 0; round < 2; ++round) {
      const std::string good = Exchange(engine->port(), kRequest);
      EXPECT_EQ(CountOf(good, "\"text\":"), 10u);
      EXPECT_THAT(good, Not(HasSubstr(c.part)));
      const std::string bad = Exchange(engine->port(), kRequest);
      EXPECT_THAT(bad, HasSubstr(c.part));
      // A reset may overtake tokens that were sent.
      if (bad.find("<reset>") == std::string::npos) {
        EXPECT_EQ(CountOf(bad, "\"text\":"), c.tokens);
      }
    }
  }
}

TEST(FaultTest, AStalledStreamStaysSilent) {
  auto engine = EngineProcess::Start(
      {"--time-scale=100", "--fail-every=1", "--fail-kind=stall"});
  ASSERT_NE(engine, nullptr);
  const int fd = Connect(engine->port());
  ASSERT_GT(send(fd, kRequest.data(), kRequest.size(), 0), 0);
  std::string reply;
  char buffer[4096];
  const auto read_some = [&] {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got > 0) reply.append(buffer, static_cast<size_t>(got));
    return got > 0;
  };
  while (CountOf(reply, "\"text\":") < 5) ASSERT_TRUE(read_some());
  // Later requests get as far, so this one had the time to go on.
  for (int i = 0; i < 3; ++i) {
    const int other = Connect(engine->port());
    ASSERT_GT(send(other, kRequest.data(), kRequest.size(), 0), 0);
    ASSERT_GT(recv(other, buffer, sizeof buffer, 0), 0);
    close(other);
  }
  EXPECT_EQ(engine->Stop(SIGTERM), 0);
  while (read_some()) continue;
  EXPECT_EQ(CountOf(reply, "\"text\":"), 5u);
  EXPECT_THAT(reply, Not(HasSubstr("[DONE]")));
  close(fd);
}

TEST(FaultTest, ModelsOrAllPathsCanBeRefused) {
  auto models = EngineProcess::Start({"--refuse-models=404"});
  ASSERT_NE(models, nullptr);
  EXPECT_THAT(Exchange(models->port(), Get("/v1/models")),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Exchange(models->port(), Get("/health")),
              StartsWith("HTTP/1.1 200 "));
  auto all = EngineProcess::Start({"--refuse-all=html"});
  ASSERT_NE(all, nullptr);
  for (const char* path : {"/health", "/v1/models", "/nothing"})
    EXPECT_THAT(Exchange(all->port(), Get(path)), HasSubstr("<html>"));
  EXPECT_THAT(Exchange(all->port(), kRequest), HasSubstr("<html>"));
}

TEST(FaultTest, ItDiesAfterTheRequestsAsked) {
  auto engine =
      EngineProcess::Start({"--time-scale=100", "--exit-after-requests=2"});
  ASSERT_NE(engine, nullptr);
  Exchange(engine->port(), kRequest);
  EXPECT_THAT(Exchange(engine->port(), kRequest), HasSubstr("[DONE]"));
  EXPECT_EQ(engine->Stop(0), 1);
}

}  // namespace
}  // namespace benchfleet::enginesim
