#include "coordinator/store/token_blob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(TokenBlobTest, EveryNumberComesBack) {
  const std::vector<uint64_t> numbers = {
      0,     1,         127,        128,        300, 16383,
      16384, 7'000'000, 1ull << 31, UINT64_MAX, 0,   1ull << 63};
  std::string blob;
  for (const uint64_t number : numbers) AppendVarint(number, &blob);
  EXPECT_EQ(DecodeVarints(blob).value(), numbers);
}

TEST(TokenBlobTest, FormIsFixed) {
  std::string blob;
  AppendVarint(300, &blob);
  EXPECT_EQ(blob, "\xac\x02");
}

TEST(TokenBlobTest, NoBytesAreNoNumbers) {
  EXPECT_TRUE(DecodeVarints("").value().empty());
}

TEST(TokenBlobTest, DamageIsAnError) {
  const std::string unended = "\x01\x80";
  const std::string too_long(10, '\xff');
  const std::string beyond = std::string(9, '\xff') + '\x02';
  for (const std::string& blob : {unended, too_long, beyond}) {
    EXPECT_EQ(DecodeVarints(blob).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(TokenBlobTest, EveryCutIsAnErrorOrShorter) {
  std::string blob;
  for (uint64_t i = 1; i != 0; i <<= 7) AppendVarint(i, &blob);
  for (size_t size = 0; size < blob.size(); ++size) {
    const auto numbers = DecodeVarints(blob.substr(0, size));
    EXPECT_TRUE(!numbers.ok() || numbers->size() < 10u);
  }
}

}  // namespace
}  // namespace benchfleet
