#include "coordinator/plan/base_url.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(BaseUrlTest, AddressesThatUsersCopyAreTaken) {
  for (const char* url :
       {"http://127.0.0.1:8000", "http://127.0.0.1:8000/",
        "http://127.0.0.1:8000/v1", "http://h/v1/", "https://host.example",
        "HTTP://host", "http://h:1/gw/a", "http://h:65535/gw/a/v1/",
        "http://[::1]:8000/v1", "http://[fe80::1]", "http://my_host-1:80/a%20b",
        "http://host.example.:80"}) {
    EXPECT_TRUE(CheckBaseUrl(url).ok()) << url << ": " << CheckBaseUrl(url);
  }
}

TEST(BaseUrlTest, EachWrongAddressIsRefusedForItsReason) {
  const struct {
    const char* url;
    const char* reason;
  } kCases[] = {
      {"", "http://"},
      {"127.0.0.1:8000", "http://"},
      {"ftp://h", "http://"},
      {"http:/h", "http://"},
      {"http://", "no host"},
      {"http:///v1", "no host"},
      {"http://:8000", "no host"},
      {"http://h:0", "1 to 65535"},
      {"http://h:65536", "1 to 65535"},
      {"http://h:99999999999999999999", "1 to 65535"},
      {"http://h:", "1 to 65535"},
      {"http://h:80a", "1 to 65535"},
      {"http://h:-1", "1 to 65535"},
      {"http://user:secret@h", "no user"},
      {"http://secret@h/v1", "no user"},
      {"http://h/v1?key=secret", "no query"},
      {"http://h#secret", "no fragment"},
      {"http://a b", "the host may hold"},
      {"http://.h", "empty part"},
      {"http://a..b", "empty part"},
      {"http://::1:8000", "in [ ]"},
      {"http://[::1", "without \"]\""},
      {"http://[::1]8000", "only a port"},
      {"http://[1.2.3.4]", "IPv6"},
      {"http://h/a b", "%XX"},
      {"http://h/caf\xc3\xa9", "%XX"},
      {"http://h/v1/completions", "after /v1"},
      {"http://h/v1/chat/completions/", "after /v1"},
      {"http://h/v1/models", "after /v1"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = CheckBaseUrl(c.url);
    ASSERT_FALSE(status.ok()) << c.url;
    EXPECT_NE(std::string(status.message()).find(c.reason), std::string::npos)
        << c.url << ": " << status;
    EXPECT_EQ(std::string(status.message()).find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace benchfleet
