#include "coordinator/report/text_encoding.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(TextEncodingTest, OnlyIllFormedPartsAreReplaced) {
  const std::string bad = "\xef\xbf\xbd";
  struct Row {
    std::string text, clean;
  };
  const Row rows[] = {
      {"", ""},
      {"plain", "plain"},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"caf\xe9", "caf" + bad},                     // Latin-1
      {"\xe2\x82", bad},                            // cut
      {"\xf0\x9f\x98x", bad + "x"},                 // cut in the middle
      {"\xed\xa0\x80", bad + bad + bad},            // surrogate
      {"\xc0\xaf", bad + bad},                      // overlong
      {"\xf5\x80\x80\x80", bad + bad + bad + bad},  // beyond Unicode
      {"\xff", bad},
  };
  for (const Row& row : rows) EXPECT_EQ(CleanUtf8(row.text), row.clean);
}

TEST(TextEncodingTest, OneLineCutsBetweenCharacters) {
  EXPECT_EQ(OneLine("a\nb\tc", 10), "a b c");
  EXPECT_EQ(OneLine("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(OneLine("abcdefghijk", 10), "abcdefg...");
  EXPECT_EQ(OneLine("abcdef\xe2\x82\xacxyz", 10), "abcdef...");
}

}  // namespace
}  // namespace benchfleet
