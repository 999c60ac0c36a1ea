// What the tests of CurlTransport share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/http/curl_transport.h"
#include "common/clock.h"
#include "tests/support/tcp_server.h"

namespace benchfleet {

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

inline std::string Ok(absl::string_view body) {
  return absl::StrCat(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
      "Content-Length: ",
      body.size(), "\r\n\r\n", body);
}

// Answers every request on every connection with its number in the connection.
inline void Echo(int fd, int) {
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

}  // namespace benchfleet
