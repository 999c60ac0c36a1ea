#include "common/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(AddressTest, TakesHostAndPort) {
  for (const char* good :
       {"127.0.0.1:7070", "load-1.lab_2:1", "[::1]:65535", "localhost:80"}) {
    EXPECT_TRUE(CheckAddress("--listen", good).ok()) << good;
  }
  EXPECT_TRUE(CheckAddress("--listen", "0.0.0.0:0", true).ok());
}

// Each of these gRPC takes, and serves or dials another port or nothing.
TEST(AddressTest, RefusesWhatIsNearlyRight) {
  for (const char* bad :
       {"", ":", "host", "7070", "host:", ":7070", "host:abc", "host:65536",
        "host:99999", "host:0", "host:-1", "host:+1", "host:1 ", "ho st:1",
        "http://host:1", "::1:7070", "[]:1", "host:1/x", "unix:/tmp/x"}) {
    const absl::Status status = CheckAddress("--coordinator", bad);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("--coordinator="));
  }
}

}  // namespace
}  // namespace benchfleet
