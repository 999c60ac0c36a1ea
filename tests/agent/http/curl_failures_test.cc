// How exchanges end that do not end well.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "tests/agent/http/curl_fixture.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;
using testing::HasSubstr;

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

// libcurl would send the request again on a connection of its own making.
TEST_F(CurlTransportTest, ADeadConnectionIsFollowedByNoOther) {
  for (const bool read_whole : {true, false}) {
    for (const size_t size : {0u, 2u, 60'000u, 100'000u, 3'000'000u}) {
      std::atomic<int> requests{0};
      TcpServer server([&](int fd, int) {
        requests += TcpServer::ReadRequest(fd).empty() ? 0 : 1;
        TcpServer::Write(fd, Ok("a"));
        char some[10];
        if (read_whole) {
          requests += TcpServer::ReadRequest(fd).empty() ? 0 : 1;
        } else {  // what is left unread makes the close a reset
          requests += recv(fd, some, sizeof(some), 0) > 0 ? 1 : 0;
        }
      });
      EXPECT_EQ(Run(Post(server.url())).body, "a");
      const std::string body(size, 'x');
      const Log dead = Run(Post(server.url(), body));
      EXPECT_EQ(dead.end.kind, Kind::kReset) << size << dead.end.message;
      EXPECT_THAT(dead.end.message, HasSubstr("not sent again")) << size;
      EXPECT_FALSE(dead.end.new_connection);
      EXPECT_EQ(requests, 2);
      EXPECT_EQ(server.connections(), 1);
    }
  }
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
  for (const char* body : {"", "abc"}) {  // without an answer, and within one
    request.timeouts.request = absl::Milliseconds(60);
    const Instant start = clock_.Now();
    const Log log = Run(request);
    EXPECT_EQ(log.end.kind, Kind::kTimeout);
    EXPECT_THAT(log.end.message, HasSubstr("of the request"));
    EXPECT_THAT(log.end.message, HasSubstr("60ms"));
    EXPECT_GE(clock_.Now() - start, absl::Milliseconds(60));
    EXPECT_EQ(log.body, body);
  }

  // A listener that never takes part in a TLS handshake.
  request.url = absl::StrCat("https://127.0.0.1:", server.port());
  request.timeouts = HttpTimeouts();
  request.timeouts.connect = absl::Milliseconds(90);
  const Log log = Run(request);
  EXPECT_EQ(log.end.kind, Kind::kTimeout);
  EXPECT_THAT(log.end.message, HasSubstr("connecting"));
}

TEST_F(CurlTransportTest, ASlowDripArrivesByteForByte) {
  TcpServer server([](int fd, int) {
    TcpServer::ReadRequest(fd);
    TcpServer::Write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      usleep(60'000);  // a slow server, not a wait of the test
      TcpServer::Write(fd, "x");
    }
  });
  HttpRequest request = Post(server.url());
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

}  // namespace
}  // namespace benchfleet
