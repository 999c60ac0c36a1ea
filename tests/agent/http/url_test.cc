#include "agent/http/url.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace benchfleet {
namespace {

TEST(UrlTest, EndpointsAreJoinedToAnyFormOfTheBaseAddress) {
  struct Row {
    const char* base;
    const char* want;
  };
  const Row rows[] = {
      {"http://127.0.0.1:9", "http://127.0.0.1:9/v1/completions"},
      {"http://127.0.0.1:9/", "http://127.0.0.1:9/v1/completions"},
      {"http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1/completions"},
      {"http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/completions"},
      {"http://127.0.0.1:9/v1//", "http://127.0.0.1:9/v1/completions"},
      {"http://127.0.0.1:9//v1", "http://127.0.0.1:9/v1/completions"},
      {"http://127.0.0.1:9/gw/a", "http://127.0.0.1:9/gw/a/v1/completions"},
      {"http://127.0.0.1:9/gw/a/v1/", "http://127.0.0.1:9/gw/a/v1/completions"},
      {"http://h/xv1", "http://h:80/xv1/v1/completions"},
      {"HTTPS://Host.example", "https://Host.example:443/v1/completions"},
      {"http://[::1]:8000/v1", "http://[::1]:8000/v1/completions"},
      {" http://h:8000\n", "http://h:8000/v1/completions"},
  };
  for (const Row& row : rows) {
    const auto url = EndpointUrl(row.base, "/v1/completions");
    ASSERT_TRUE(url.ok()) << url.status();
    EXPECT_EQ(*url, row.want) << row.base;
  }
  EXPECT_EQ(*EndpointUrl("http://h:8/v1/", "/health"), "http://h:8/health");
}

TEST(UrlTest, BadAddressesAreRefusedWithAReason) {
  for (const char* url :
       {"", "127.0.0.1:8000", "ftp://h", "http://", "http:///v1", "http://h:0",
        "http://h:65536", "http://h:80x", "http://h:", "http://h:+8",
        "http://a b/", "http://h?x=1", "http://h/#f", "http://[::1",
        "http://[]", "http://h\r\nX: y", "http://h/v1/chat/completions",
        "http://[::1]8000"}) {
    const auto joined = EndpointUrl(url, "/v1/completions");
    EXPECT_EQ(joined.status().code(), absl::StatusCode::kInvalidArgument)
        << url;
  }
}

TEST(UrlTest, PasswordsInAddressesAreNotRepeated) {
  const auto url = ParseUrl("http://me:secret@h:80");
  ASSERT_FALSE(url.ok());
  EXPECT_FALSE(absl::StrContains(url.status().message(), "secret"));
}

}  // namespace
}  // namespace benchfleet
