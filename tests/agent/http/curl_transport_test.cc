#include "agent/http/curl_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/http/fetch.h"
#include "agent/http/response_reader.h"
#include "common/clock.h"
#include "tests/support/tcp_server.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;
using testing::HasSubstr;

// Everything that an exchange was told, in order.
struct Log final : public HttpObserver {
  void OnHead(int s, absl::string_view type, absl::string_view code) override {
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(over);
    status = s;
    content_type = std::string(type);
    encoding = std::string(code);
  }
  void OnBytes(absl::string_view bytes, Instant stamp, uint64_t turn) override {
    EXPECT_FALSE(over);
    EXPECT_NE(status, 0);
    body.append(bytes.data(), bytes.size());
    stamps.push_back(stamp);
    turns.push_back(turn);
  }
  void OnEnd(const TransportEnd& e, Instant) override {
    EXPECT_FALSE(over);
    over = true;
    end = e;
  }

  int status = 0;
  std::string content_type, encoding, body;
  std::vector<Instant> stamps;
  std::vector<uint64_t> turns;
  TransportEnd end;
  bool over = false;
};

std::string Ok(absl::string_view body) {
  return absl::StrCat(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
      "Content-Length: ",
      body.size(), "\r\n\r\n", body);
}

// Answers every request on every connection with its number in the connection.
void Echo(int fd, int) {
  for (int i = 0; !TcpServer::ReadRequest(fd).empty(); ++i) {
    TcpServer::Write(fd, Ok(absl::StrCat(i)));
  }
}

class CurlTransportTest : public testing::Test {
 protected:
  CurlTransportTest() {
    transport_ = *MakeCurlTransport(CurlTransportOptions(), clock_);
  }

  HttpRequest Post(const std::string& url, absl::string_view body = "{}") {
    HttpRequest request;
    request.url = url;
    request.body = body;
    return request;
  }

  HttpTransport::ExchangeId Start(const HttpRequest& request, Log* log) {
    const auto id = transport_->Start(request, log);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.ok() ? *id : 0;
  }

  void Await(const Log& log) {
    const Instant limit = clock_.Now() + absl::Seconds(10);
    while (!log.over && clock_.Now() < limit) {
      transport_->Poll(clock_.Now() + absl::Seconds(1));
    }
    ASSERT_TRUE(log.over);
  }

  Log Run(const HttpRequest& request) {
    Log log;
    Start(request, &log);
    Await(log);
    return log;
  }

  const RealClock clock_;
  std::unique_ptr<HttpTransport> transport_;
};

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

TEST_F(CurlTransportTest, BadRequestsAreRefusedAndNothingFollows) {
  Log log;
  const std::vector<std::string> headers = {"X: a\r\nY: b"};
  HttpRequest request = Post("http://127.0.0.1:1/");
  request.headers = &headers;
  EXPECT_FALSE(transport_->Start(request, &log).ok());
  request = Post("file:///etc/passwd");
  EXPECT_FALSE(transport_->Start(request, &log).ok());
  request = Post("http://127.0.0.1:1/");
  request.method = "PUT";
  EXPECT_FALSE(transport_->Start(request, &log).ok());
  transport_->Poll(clock_.Now());
  EXPECT_FALSE(log.over);
}

// The server reads the second request, then closes without a byte.
TEST_F(CurlTransportTest, ARequestOnADeadConnectionIsNotSentAgain) {
  std::atomic<int> requests{0};
  TcpServer server([&requests](int fd, int) {
    if (!TcpServer::ReadRequest(fd).empty()) ++requests;
    TcpServer::Write(fd, Ok("a"));
    if (!TcpServer::ReadRequest(fd).empty()) ++requests;
  });
  EXPECT_EQ(Run(Post(server.url())).body, "a");
  for (const char* method : {"POST", "GET"}) {
    HttpRequest request = Post(server.url());
    request.method = method;
    const Log dead = Run(request);
    EXPECT_EQ(dead.end.kind, Kind::kReset) << method;
    EXPECT_FALSE(dead.end.new_connection);
    EXPECT_EQ(dead.status, 0);
    EXPECT_THAT(dead.end.message, HasSubstr("not sent again"));
    EXPECT_EQ(Run(Post(server.url())).body, "a");  // a new connection
  }
  EXPECT_EQ(requests, 5);
}

TEST_F(CurlTransportTest, EachWayOfEndingHasItsKind) {
  const std::pair<const char*, Kind> rows[] = {
      {"", Kind::kReset},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", Kind::kPartial},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
       Kind::kPartial},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n",
       Kind::kOther},
      {"HTTP/1.1 200 OK\r\n\r\nabc", Kind::kOk},
      {"HTTP/1.0 200 OK\r\n\r\nabc", Kind::kOk},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "3;ext=1\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
       Kind::kOk},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
       "\r\nabc",
       Kind::kOk},
      {"220 smtp.example ESMTP\r\n", Kind::kOther},
  };
  for (const auto& [answer, kind] : rows) {
    TcpServer server([text = answer](int fd, int) {
      TcpServer::ReadRequest(fd);
      TcpServer::Write(fd, text);
    });
    const Log log = Run(Post(server.url()));
    EXPECT_EQ(log.end.kind, kind) << answer << log.end.message;
    EXPECT_EQ(log.end.message.empty(), kind == Kind::kOk);
    if (kind == Kind::kOk) {
      EXPECT_EQ(log.status, 200);
      EXPECT_EQ(log.body, "abc");
    } else {
      EXPECT_THAT(log.end.message,
                  HasSubstr(absl::StrCat("127.0.0.1:", server.port())));
    }
  }
}

TEST_F(CurlTransportTest, AResetAfterSomeBytesIsAReset) {
  std::promise<void> bytes_came;
  TcpServer server([&bytes_came](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(
        fd,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    bytes_came.get_future().wait();  // a reset discards what is not yet read
    const linger none{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  });
  Log log;
  Start(Post(server.url()), &log);
  const Instant limit = clock_.Now() + absl::Seconds(5);
  while (log.body.empty() && clock_.Now() < limit) transport_->Poll(limit);
  bytes_came.set_value();
  Await(log);
  EXPECT_EQ(log.body, "abc");
  EXPECT_EQ(log.end.kind, Kind::kReset);
  EXPECT_TRUE(log.end.new_connection);
  EXPECT_THAT(log.end.message, HasSubstr("reset by peer"));
}

TEST_F(CurlTransportTest, AnAnswerBeforeTheBodyWasReadIsHeard) {
  TcpServer server([](int fd, int) {
    char head[64];
    EXPECT_GT(recv(fd, head, sizeof(head), 0), 0);
    TcpServer::Write(fd,
                     "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    shutdown(fd, SHUT_WR);
    TcpServer::ReadToEnd(fd);
  });
  const std::string body(3 << 20, 'x');
  const Log log = Run(Post(server.url(), body));
  EXPECT_EQ(log.status, 413);
  EXPECT_EQ(log.body, "big");
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

TEST_F(CurlTransportTest, NoConnectionIsSaidWithPeerAndReason) {
  int port;
  {
    TcpServer gone(Echo);
    port = gone.port();
  }
  const Log log = Run(Post(absl::StrCat("http://127.0.0.1:", port)));
  EXPECT_EQ(log.end.kind, Kind::kConnect);
  EXPECT_EQ(log.end.message, absl::StrCat("no connection to 127.0.0.1:", port,
                                          ": Connection refused"));
  const Log unknown = Run(Post("http://no-such-host.invalid/"));
  EXPECT_EQ(unknown.end.kind, Kind::kConnect);
  EXPECT_THAT(unknown.end.message, HasSubstr("no-such-host.invalid"));
}

TEST_F(CurlTransportTest, EachPhaseHasItsTimeout) {
  TcpServer server([](int fd, int number) {
    TcpServer::ReadRequest(fd);
    if (number > 0) {
      TcpServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
    }
    TcpServer::ReadToEnd(fd);
  });
  HttpRequest request = Post(server.url());
  request.timeouts.first_byte = absl::Milliseconds(60);
  Instant start = clock_.Now();
  Log log = Run(request);
  EXPECT_EQ(log.end.kind, Kind::kTimeout);
  EXPECT_THAT(log.end.message, HasSubstr("first byte"));
  EXPECT_THAT(log.end.message, HasSubstr("60ms"));
  EXPECT_GE(clock_.Now() - start, absl::Milliseconds(60));

  request.timeouts = HttpTimeouts();
  request.timeouts.between_bytes = absl::Milliseconds(70);
  log = Run(request);
  EXPECT_EQ(log.end.kind, Kind::kTimeout);
  EXPECT_THAT(log.end.message, HasSubstr("between bytes"));
  EXPECT_EQ(log.body, "abc");

  request.timeouts = HttpTimeouts();
  request.timeouts.request = absl::Milliseconds(80);
  log = Run(request);
  EXPECT_EQ(log.end.kind, Kind::kTimeout);
  EXPECT_THAT(log.end.message, HasSubstr("of the request"));

  // A listener that never takes part in a TLS handshake.
  request.url = absl::StrCat("https://127.0.0.1:", server.port());
  request.timeouts = HttpTimeouts();
  request.timeouts.connect = absl::Milliseconds(90);
  log = Run(request);
  EXPECT_EQ(log.end.kind, Kind::kTimeout);
  EXPECT_THAT(log.end.message, HasSubstr("connecting"));
}

TEST_F(CurlTransportTest, BytesInTimePutTheTimeoutOff) {
  TcpServer server([](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      usleep(30'000);  // a slow server, not a wait of the test
      TcpServer::Write(fd, "x");
    }
  });
  HttpRequest request = Post(server.url());
  request.timeouts.first_byte = absl::Milliseconds(200);
  request.timeouts.between_bytes = absl::Milliseconds(200);
  const Log log = Run(request);
  EXPECT_EQ(log.end.kind, Kind::kOk) << log.end.message;
  EXPECT_EQ(log.stamps.size(), 8u);
  EXPECT_TRUE(std::is_sorted(log.stamps.begin(), log.stamps.end()));
  EXPECT_LT(log.turns.front(), log.turns.back());
}

TEST_F(CurlTransportTest, CancelEndsAtOnceAndClosesTheConnection) {
  std::atomic<bool> closed{false};
  TcpServer server([&closed](int fd, int) {
    TcpServer::ReadToEnd(fd);
    closed = true;
  });
  Log log;
  const auto id = Start(Post(server.url()), &log);
  transport_->Cancel(id);
  EXPECT_TRUE(log.over);
  EXPECT_EQ(log.end.kind, Kind::kCancelled);
  transport_->Cancel(id);
  transport_->Cancel(12345);
  Log other;
  EXPECT_NE(Start(Post(server.url()), &other), id);
  transport_->Cancel(id);  // of the past: not the new one
  EXPECT_FALSE(other.over);
  transport_.reset();
}

TEST_F(CurlTransportTest, WakeEndsAPollFromAnotherThread) {
  const Instant start = clock_.Now();
  std::thread waker([this] { transport_->Wake(); });
  transport_->Poll(start + absl::Seconds(20));
  waker.join();
  EXPECT_LT(clock_.Now() - start, absl::Seconds(10));
}

TEST_F(CurlTransportTest, PollWaitsUntilTheGivenTimeToTheFractionOfAMs) {
  const Instant until = clock_.Now() + absl::Microseconds(2500);
  while (clock_.Now() < until) transport_->Poll(until);
  EXPECT_LT(clock_.Now() - until, absl::Milliseconds(50));
  transport_->Poll({0});  // the past: returns
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
