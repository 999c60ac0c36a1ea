#include "tests/enginesim/http_request.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace benchfleet::enginesim {
namespace {

const char* const kGood[] = {
    "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /v1/completions?a=b HTTP/1.1\r\nContent-Length: 5\r\n"
    "X-Request-ID:  r 1 \r\n\r\nhello",
    "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
    "\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST /x HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
};

std::string Describe(const HttpRequest& request) {
  return absl::StrCat(request.method, " ", request.Path(), " ", request.body,
                      request.keep_alive ? " keep" : " close");
}

const char* const kGoodText[] = {
    "GET /health  keep",
    "POST /v1/completions hello keep",
    "POST /x hello0123456789 keep",
    "GET /  keep",
    "POST /x  close",
};

TEST(HttpRequestParserTest, ReadsARequestSplitAtEveryByte) {
  for (size_t i = 0; i < std::size(kGood); ++i) {
    const std::string text = kGood[i];
    for (size_t cut = 0; cut <= text.size(); ++cut) {
      HttpRequestParser parser;
      size_t taken = parser.Feed(text.substr(0, cut));
      EXPECT_EQ(taken, cut);
      taken += parser.Feed(text.substr(cut));
      EXPECT_EQ(taken, text.size());
      ASSERT_TRUE(parser.done()) << i << " cut at " << cut;
      EXPECT_EQ(Describe(parser.Take()), kGoodText[i]) << cut;
    }
  }
}

TEST(HttpRequestParserTest, ReadsAByteAtATime) {
  for (size_t i = 0; i < std::size(kGood); ++i) {
    HttpRequestParser parser;
    for (char c : std::string(kGood[i]))
      EXPECT_EQ(parser.Feed(absl::string_view(&c, 1)), 1u);
    ASSERT_TRUE(parser.done());
    EXPECT_EQ(Describe(parser.Take()), kGoodText[i]);
  }
}

TEST(HttpRequestParserTest, LeavesThePipelinedRequest) {
  std::string all;
  for (const char* text : kGood) all += text;
  HttpRequestParser parser;
  absl::string_view rest = all;
  for (const char* expected : kGoodText) {
    rest.remove_prefix(parser.Feed(rest));
    ASSERT_TRUE(parser.done());
    EXPECT_EQ(parser.Feed("more"), 0u);
    EXPECT_EQ(Describe(parser.Take()), expected);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(HttpRequestParserTest, RefusesWhatIsNoRequest) {
  const std::pair<std::string, int> cases[] = {
      {"hello\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET x HTTP/1.1\r\n\r\n", 400},
      {"G@T / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nA : b\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: "
       "chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nContent-Length: 65\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n", 413},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxy\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
       400},
      {"GET / HTTP/1.1\r\nA: " + std::string(300, 'a') + "\r\n\r\n", 431},
  };
  for (const auto& [text, status] : cases) {
    HttpRequestParser parser({.head_bytes = 256, .body_bytes = 64});
    parser.Feed(text);
    EXPECT_EQ(parser.error_status(), status) << text;
    EXPECT_FALSE(parser.done());
    EXPECT_EQ(parser.Feed("x"), 0u);
  }
}

TEST(HttpRequestParserTest, AHeadWithoutEndIsBounded) {
  HttpRequestParser parser({.head_bytes = 1024, .body_bytes = 64});
  parser.Feed("GET / HTTP/1.1\r\nA: ");
  size_t fed = 0;
  while (parser.error_status() == 0 && fed < 100'000)
    fed += parser.Feed("aaaa");
  EXPECT_EQ(parser.error_status(), 431);
  EXPECT_LE(fed, 1100u);
}

TEST(HttpRequestParserTest, AsksToContinueOnlyWithABodyToCome) {
  HttpRequestParser parser;
  parser.Feed("POST / HTTP/1.1\r\nExpect: 100-continue\r\n");
  EXPECT_FALSE(parser.wants_continue());
  parser.Feed("Content-Length: 2\r\n\r\n");
  EXPECT_TRUE(parser.wants_continue());
  parser.Feed("ab");
  EXPECT_FALSE(parser.wants_continue());
}

}  // namespace
}  // namespace benchfleet::enginesim
