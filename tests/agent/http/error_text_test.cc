#include "agent/http/error_text.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

constexpr absl::string_view kKey = "sk-test-000000000000000042";

TEST(ErrorTextTest, MasksEveryOccurrenceOfTheKey) {
  EXPECT_EQ(MaskSecret(absl::StrCat("a ", kKey, kKey, " b"), kKey),
            "a [key][key] b");
  EXPECT_EQ(MaskSecret("nothing here", kKey), "nothing here");
  EXPECT_EQ(MaskSecret("a", ""), "a");
  EXPECT_EQ(MaskSecret("x a\\/b\\/c y", "a/b/c"), "x [key] y");
  EXPECT_EQ(MaskSecret("k", "k"), "[key]");
}

TEST(ErrorTextTest, MasksAKeyThatWasCut) {
  for (size_t n = 4; n < kKey.size(); ++n) {
    EXPECT_EQ(MaskSecret(absl::StrCat("key: ", kKey.substr(0, n)), kKey),
              "key: [key]");
  }
}

TEST(ErrorTextTest, NoPartOfTheKeyIsLeftAtTheCutOfAnExcerpt) {
  for (size_t before = 150; before < 230; ++before) {
    const std::string text =
        absl::StrCat(std::string(before, 'x'), kKey, std::string(40, 'y'));
    const std::string excerpt = Excerpt(text, kKey);
    EXPECT_FALSE(absl::StrContains(excerpt, "sk-t")) << before;
    EXPECT_LE(excerpt.size(), kExcerptBytes);
  }
}

TEST(ErrorTextTest, CleansToValidUtf8OnOneLine) {
  EXPECT_EQ(CleanText("a\r\n\tb\x01 c ", 100), "a b c");
  EXPECT_EQ(CleanText("caf\xE9", 100), "caf\xEF\xBF\xBD");
  EXPECT_EQ(CleanText("\xE6\xBC", 100), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(CleanText("\xE6\xBC\xA2\xF0\x9F\x99\x82", 100),
            "\xE6\xBC\xA2\xF0\x9F\x99\x82");
  EXPECT_EQ(CleanText("\xED\xA0\x80", 100).size(), 9u);  // a surrogate
  EXPECT_EQ(CleanText("\xC0\x80", 100).size(), 6u);      // overlong
}

TEST(ErrorTextTest, CutsAtCharacters) {
  EXPECT_EQ(CleanText("abcdef", 6), "abcdef");
  EXPECT_EQ(CleanText("abcdefg", 6), "abc...");
  for (size_t n = 8; n < 40; ++n) {
    const std::string cut = CleanText(std::string(40, '\xFF'), n);
    EXPECT_LE(cut.size(), n);
    EXPECT_EQ(cut.size() % 3, 0u);
  }
}

}  // namespace
}  // namespace benchfleet
