#include "agent/http/curl_transport.h"

#include <stdlib.h>

#include <algorithm>
#include <thread>

#include "agent/http/fetch.h"
#include "agent/http/response_reader.h"
#include "tests/agent/http/curl_fixture.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;
using testing::HasSubstr;

TEST_F(CurlTransportTest, ReusesTheConnectionAndSaysSo) {
  TcpServer server(Echo);
  const Log first = Run(Post(server.url()));
  EXPECT_EQ(first.end.kind, Kind::kOk) << first.end.message;
  EXPECT_EQ(first.body, "0");
  EXPECT_EQ(first.content_type, "text/plain");
  EXPECT_TRUE(first.end.new_connection);
  EXPECT_GT(first.end.connect, absl::ZeroDuration());
  EXPECT_EQ(first.end.tls, absl::ZeroDuration());
  const Log second = Run(Post(server.url()));
  EXPECT_EQ(second.body, "1");
  EXPECT_FALSE(second.end.new_connection);
  EXPECT_EQ(second.end.connect, absl::ZeroDuration());
  EXPECT_EQ(server.connections(), 1);
  transport_.reset();
}

TEST_F(CurlTransportTest, WithoutReuseEachRequestHasItsConnection) {
  CurlTransportOptions options;
  options.reuse_connections = false;
  transport_ = *MakeCurlTransport(options, clock_);
  TcpServer server(Echo);
  for (int i = 0; i < 3; ++i) {
    const Log log = Run(Post(server.url()));
    EXPECT_EQ(log.end.kind, Kind::kOk) << log.end.message;
    EXPECT_TRUE(log.end.new_connection);
  }
  EXPECT_EQ(server.connections(), 3);
  transport_.reset();
}

// The server's second small write waits for the ACK of its first.
TEST_F(CurlTransportTest, AServerWithNaglesAlgorithmIsNotSlowedByLateAcks) {
  TcpServer server([](int fd, int) {
    while (!TcpServer::ReadRequest(fd).empty()) {
      TcpServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
      TcpServer::Write(fd, "ab");
      TcpServer::Write(fd, "cd");
    }
  });
  std::vector<absl::Duration> took;
  for (int i = 0; i < 15; ++i) {
    const Instant sent = clock_.Now();
    EXPECT_EQ(Run(Post(server.url())).body, "abcd");
    took.push_back(clock_.Now() - sent);
  }
  EXPECT_EQ(server.connections(), 1);
  std::sort(took.begin(), took.end());
  EXPECT_LT(took[7], absl::Milliseconds(20));  // a late ACK costs 40
  transport_.reset();
}

TEST_F(CurlTransportTest, SendsWhatWasAskedAndNothingElse) {
  std::string seen;
  TcpServer server([&seen](int fd, int) {
    seen = TcpServer::ReadRequest(fd);
    TcpServer::Write(fd, Ok(""));
  });
  const std::vector<std::string> headers = {"Content-Type: application/json",
                                            "X-Empty:", "X-A: b"};
  HttpRequest request = Post(server.url() + "/gw/v1/completions", "{\"a\":1}");
  request.headers = &headers;
  Run(request);
  EXPECT_THAT(seen,
              testing::StartsWith("POST /gw/v1/completions HTTP/1.1\r\n"));
  EXPECT_THAT(seen, testing::EndsWith("\r\n\r\n{\"a\":1}"));
  EXPECT_THAT(seen, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(seen, HasSubstr("X-Empty:\r\n"));
  EXPECT_THAT(seen, HasSubstr("X-A: b\r\n"));
  EXPECT_THAT(seen, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(seen, HasSubstr("Accept-Encoding: identity\r\n"));
  EXPECT_THAT(seen, testing::Not(HasSubstr("Expect")));
  EXPECT_THAT(seen, testing::Not(HasSubstr("Transfer-Encoding")));
}

TEST_F(CurlTransportTest, LargeBodiesArriveWhole) {
  size_t got = 0;
  TcpServer server([&got](int fd, int) {
    got = TcpServer::ReadRequest(fd).size();
    TcpServer::Write(fd, Ok("done"));
  });
  const std::string body(3 << 20, 'x');
  EXPECT_EQ(Run(Post(server.url(), body)).body, "done");
  EXPECT_GT(got, body.size());
}

TEST_F(CurlTransportTest, RedirectsAreNotFollowed) {
  TcpServer server([](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(fd,
                     "HTTP/1.1 302 Found\r\nLocation: /x\r\n"
                     "Content-Length: 0\r\n\r\n");
    EXPECT_EQ(TcpServer::ReadRequest(fd), "");
  });
  EXPECT_EQ(Run(Post(server.url())).status, 302);
  transport_.reset();
}

TEST_F(CurlTransportTest, EventsOfOneSegmentAreOneTurn) {
  TcpServer server([](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(fd,
                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n");
  });
  const Log log = Run(Post(server.url()));
  EXPECT_EQ(log.body, "abc");
  EXPECT_EQ(log.stamps.size(), 1u);
}

TEST_F(CurlTransportTest, WakeEndsAPollFromAnotherThread) {
  const Instant start = clock_.Now();
  std::thread waker([this] { transport_->Wake(); });
  transport_->Poll(start + absl::Seconds(20));
  waker.join();
  EXPECT_LT(clock_.Now() - start, absl::Seconds(10));
}

TEST_F(CurlTransportTest, PollEndsAtTheGivenTime) {
  const Instant until = clock_.Now() + absl::Microseconds(2500);
  while (clock_.Now() < until) transport_->Poll(until);
  EXPECT_LT(clock_.Now() - until, absl::Seconds(1));
  transport_->Poll({0});  // the past: returns
}

TEST_F(CurlTransportTest, WarmConnectionsOpensThatManyBesideAnIdleOne) {
  TcpServer server(Echo);
  Run(Post(server.url()));
  HttpRequest get = Post(server.url());
  get.method = "GET";
  get.body = "";
  EXPECT_EQ(WarmConnections(*transport_, clock_, get, 3), 3u);
  EXPECT_EQ(server.connections(), 4);
  transport_.reset();
}

TEST_F(CurlTransportTest, WarmConnectionsOpensThatManyAndTheyAreUsed) {
  TcpServer server(Echo);
  HttpRequest get = Post(server.url() + "/health");
  get.method = "GET";
  EXPECT_EQ(WarmConnections(*transport_, clock_, get, 8), 8u);
  EXPECT_EQ(server.connections(), 8);
  std::vector<Log> logs(8);
  const HttpRequest request = Post(server.url());
  for (Log& log : logs) Start(request, &log);
  for (Log& log : logs) Await(log);
  for (const Log& log : logs) EXPECT_FALSE(log.end.new_connection);
  EXPECT_EQ(server.connections(), 8);
  transport_.reset();
}

TEST_F(CurlTransportTest, FetchBoundsTheBody) {
  TcpServer server([](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(fd, Ok(std::string(kMaxFetchBytes + 5, 'x')));
  });
  HttpRequest get = Post(server.url());
  get.method = "GET";
  const FetchResult result = Fetch(*transport_, clock_, get);
  EXPECT_EQ(result.end.kind, Kind::kOk) << result.end.message;
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.body.size(), kMaxFetchBytes);
  EXPECT_TRUE(result.body_cut);
}

TEST_F(CurlTransportTest, IPv6AddressesWork) {
  TcpServer server(Echo, "::1");
  if (server.port() == 0) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(Run(Post(server.url())).body, "0");
  transport_.reset();
}

TEST_F(CurlTransportTest, PinnedNamesAreLookedUpOnce) {
  TcpServer server(Echo);
  const std::string url =
      absl::StrCat("http://engine.invalid:", server.port(), "/v1");
  CurlTransportOptions options;
  options.pinned = {
      absl::StrCat("engine.invalid:", server.port(), ":127.0.0.1")};
  transport_ = *MakeCurlTransport(options, clock_);
  EXPECT_EQ(Run(Post(url)).body, "0");
  EXPECT_EQ(Run(Post(url)).body, "1");
  transport_.reset();

  const auto localhost = ResolveTarget("http://localhost:8000/v1");
  ASSERT_TRUE(localhost.ok()) << localhost.status();
  ASSERT_EQ(localhost->size(), 1u);
  EXPECT_THAT(localhost->front(), testing::StartsWith("localhost:8000:"));
  EXPECT_THAT(*ResolveTarget("http://127.0.0.1:8000"), testing::IsEmpty());
  EXPECT_THAT(*ResolveTarget("http://[::1]:8000"), testing::IsEmpty());
  EXPECT_EQ(ResolveTarget("http://no-such-host.invalid").status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(CurlTransportTest, ProxiesOfTheEnvironmentAreNotUsed) {
  TcpServer proxy(Echo);
  TcpServer server(Echo);
  const char* const names[] = {"http_proxy", "https_proxy", "all_proxy",
                               "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"};
  for (const char* name : names) setenv(name, proxy.url().c_str(), 1);
  unsetenv("no_proxy");
  transport_ = *MakeCurlTransport(CurlTransportOptions(), clock_);
  EXPECT_EQ(Run(Post(server.url())).body, "0");
  for (const char* name : names) unsetenv(name);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(proxy.connections(), 0);
  transport_.reset();
}

TEST_F(CurlTransportTest, AStreamIsReadThroughAReader) {
  TcpServer server([](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(
        fd,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"length\"}],"
        "\"usage\":{\"completion_tokens\":1}}\n\ndata: [DONE]\n\n");
  });
  Asked asked;
  asked.output_tokens = 1;
  ResponseReader reader(asked);
  const Instant sent = clock_.Now();
  reader.set_sent(sent);
  ASSERT_TRUE(transport_->Start(Post(server.url()), &reader).ok());
  while (!reader.done()) transport_->Poll(clock_.Now() + absl::Seconds(1));
  EXPECT_TRUE(reader.completed());
  v1::RequestTiming timing;
  reader.Fill(&timing);
  EXPECT_GE(timing.first_byte_ns(), sent.ns);
  EXPECT_LE(timing.done_ns(), clock_.Now().ns);
  EXPECT_GT(timing.connect_ns(), 0u);
}

}  // namespace
}  // namespace benchfleet
