// Any text gives an answer, and what it accepts protobuf reads the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/random.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/suite_parser.h"
#include "coordinator/plan/utf8.h"
#include "google/protobuf/text_format.h"

namespace benchfleet {
namespace {

constexpr char kGood[] = R"pb(# a comment
                              name: "smoke",
                              model: 'm'
                                     "x\u00e9"
                              ; repeats: 3 seed: 0x1F
  engines { name: "a" kind: VLLM base_url: "http://127.0.0.1:8000" }
  engines: < name: "b" kind: 4 base_url: "http://[::1]:80/v1"
             headers: ["X-A: b"] insecure_skip_verify: t >
  timeouts { connect_s: 1.5f request_s: 2e3 }
  cases: [{ id: "c" input_tokens: 128 output_tokens: 64 concurrency: [1, 4]
            requests: [32, 64] warmup_requests: 2 include_usage: false },
          { id: "d" input_tokens: 1 output_tokens: 1 concurrency: 2
            requests: 8 endpoint: CHAT prompt_format: TEXT }]
)pb";

// Pieces that a parser may stumble over.
constexpr const char* kPieces[] = {
    "{",          "}",
    "<",          ">",
    "[",          "]",
    ":",          ",",
    ";",          "-",
    "\"",         "'",
    "\\",         "\n",
    "\r",         "#",
    "010",        "0x",
    "1e999",      "nan",
    "-inf",       "99999999999999999999",
    "\xe9",       "\xe2\x80\x9c",
    "\xc2\xa0",   "\xef\xbb\xbf",
    "\0",         "cases",
    "cases {",    "concurrency: 0",
    "1.5.5f",     ".",
    "\\u",        "\\x",
    "\\033",      "\\777",
    "engines: [", "a: a: a:",
    "[[[[",       "{{{{",
    "/",          "\x7f",
    "name: \"",
};

std::string Mutate(std::string text, Random& random) {
  const uint64_t count = 1 + random.Below(4);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = random.Below(text.size() + 1);
    const size_t length = random.Below(
        std::min<size_t>(text.size() - at + 1, random.Below(8) == 0 ? 400 : 6));
    switch (random.Below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[random.Below(std::size(kPieces))]);
        break;
      case 2:
        text.insert(random.Below(text.size() + 1), text.substr(at, length));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
    }
  }
  return text;
}

// Places lie within the text; messages are one line of clean text.
void ExpectSane(const Problem& problem, const std::string& text) {
  const auto lines =
      static_cast<int>(1 + std::count_if(text.begin(), text.end(), [](char c) {
                         return c == '\n' || c == '\r';
                       }));
  EXPECT_LE(problem.line, lines);
  EXPECT_LE(problem.column, static_cast<int>(text.size()) + 1);
  EXPECT_EQ(problem.line == 0, problem.column == 0);
  EXPECT_FALSE(problem.message.empty());
  EXPECT_LT(problem.message.size(), 1000u);
  EXPECT_TRUE(IsUtf8(problem.message)) << problem.message;
  EXPECT_TRUE(
      std::none_of(problem.message.begin(), problem.message.end(),
                   [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
      << problem.message;
}

TEST(SuiteFuzzTest, AnyMutationGivesAnAnswer) {
  int accepted = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const std::string text = Mutate(kGood, random);
    const ParsedSuite parsed = ParseSuite(text);
    for (const Problem& problem : parsed.problems) ExpectSane(problem, text);
    if (!parsed.problems.empty()) continue;
    ++accepted;
    std::string bytes;
    EXPECT_TRUE(parsed.suite.SerializeToString(&bytes));
    EXPECT_TRUE(v1::Suite().ParseFromString(bytes));
    EXPECT_GT(MakePlan(parsed.suite, 1).rounds.size(), 0u);
    v1::Suite theirs;
    if (text.find("\xef\xbb\xbf") != 0 && text.find('\r') == text.npos) {
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &theirs))
          << text;
      EXPECT_EQ(theirs.SerializeAsString(), bytes) << text;
    }
  }
  EXPECT_GT(accepted, 1000);  // or the comparison shows nothing
}

TEST(SuiteFuzzTest, RandomBytesAreRefused) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random.Below(300), '\0');
    for (char& c : text) c = static_cast<char>(1 + random.Below(255));
    EXPECT_FALSE(ParseSuite(text).problems.empty());
  }
}

TEST(SuiteFuzzTest, HugeTextsOfOneKindAreAnsweredInBoundedTimeAndSpace) {
  for (const std::string piece : {"{",
                                  "[",
                                  "}",
                                  "a{",
                                  "a:",
                                  "cases{",
                                  "cases:[{",
                                  "cases{}",
                                  "\"",
                                  "-",
                                  "concurrency:[1,",
                                  "x ",
                                  "1 ",
                                  "\xe9",
                                  "\xe2\x80\x9c",
                                  "#",
                                  "\n",
                                  "\xe9\n",
                                  "engines{headers:\"\"}",
                                  "name:",
                                  "engines { kind: "}) {
    std::string text;
    while (text.size() + piece.size() <= kMaxSuiteBytes) text += piece;
    const ParsedSuite parsed = ParseSuite(text);
    EXPECT_FALSE(parsed.problems.empty()) << piece;
    EXPECT_LE(parsed.problems.size(), ProblemList::kMaxProblems + 1) << piece;
  }
}

}  // namespace
}  // namespace benchfleet
