#include "agent/http/json_scanner.h"

#include <gtest/gtest.h>

#include <string>

namespace benchfleet {
namespace {

bool IsJson(absl::string_view text) {
  JsonScanner json(text);
  json.Skip();
  return json.AtEnd();
}

TEST(JsonScannerTest, TakesWhatIsJsonAndOddStrings) {
  for (const char* text :
       {"{}", " { } ", "[]", "[1,2]", "{\"a\":{\"b\":[null,true,false]}}", "0",
        "-1.5e+10", "\"\"", "\"\\\"\"", "\"\\\\\"", "\"\\ud83d\"",
        "\"\xE6\xBC\"", "\"a\nb\"", "NaN", "[-Infinity]",
        "{\"\\\"choices\\\":\":1}"}) {
    EXPECT_TRUE(IsJson(text)) << text;
  }
}

TEST(JsonScannerTest, RefusesBrokenStructure) {
  for (const char* text :
       {"",         "{",       "}",        "[1,]",       "[,1]",
        "[1 2]",    "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{\"a\":1", "\"",      "\"\\\"",   "\"\\",       "01",
        "1.",       "-",       "1e",       "tru",        "nul",
        "+1",       "{} {}",   "{]",       "[}",         "'a'"}) {
    EXPECT_FALSE(IsJson(text)) << text;
  }
}

TEST(JsonScannerTest, BoundsTheDepth) {
  const auto nested = [](size_t n) {
    return std::string(n, '[') + std::string(n, ']');
  };
  EXPECT_TRUE(IsJson(nested(JsonScanner::kMaxDepth)));
  EXPECT_FALSE(IsJson(nested(JsonScanner::kMaxDepth + 1)));
  EXPECT_FALSE(IsJson(std::string(1 << 20, '[')));
}

TEST(JsonScannerTest, LongStringsOfEscapesTakeLinearTime) {
  std::string text = "\"";
  for (int i = 0; i < 2'000'000; ++i) text += i % 2 == 0 ? "\\n" : "\\\"";
  text += "\"";
  EXPECT_TRUE(IsJson(text));
}

TEST(JsonScannerTest, EveryPrefixOfAnObjectIsRefused) {
  const std::string text =
      R"({"a":[1,{"b":"c\"d"}],"e":null,"f":-1.5e3,"g":true})";
  for (size_t n = 0; n < text.size(); ++n) {
    EXPECT_FALSE(IsJson(text.substr(0, n))) << n;
  }
  EXPECT_TRUE(IsJson(text));
}

}  // namespace
}  // namespace benchfleet
