#include "coordinator/plan/suite_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "google/protobuf/text_format.h"
#include "tests/coordinator/plan/good_suite.h"

namespace benchfleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(SuiteParserTest, WhatPeopleWriteIsReadAsProtobufReadsIt) {
  for (const std::string& text : {
           std::string(kSuite),
           With("repeats: 3", "repeats: 0x10"),
           With("repeats: 3", "repeats:3,seed:18446744073709551615;"),
           With("model: \"m\"", "model: 'a' \"b\"\n 'c' # x"),
           With("model: \"m\"",
                R"(model: "\303\251\x41\u00e9\U0001F600\"\'\\")"),
           With("model: \"m\"",
                "model: \"caf\xc3\xa9 \xe2\x80\x9cx\xe2\x80\x9d\""),
           With("engines {", "engines: {"),
           With("  kind: VLLM", "  kind: 2 headers: [\"A: b\", 'C: d']"),
           With("  kind: VLLM", "  kind: VLLM headers: \"A: b\" headers: []"),
           With("  kind: VLLM", "  kind: VLLM insecure_skip_verify: True"),
           With("  kind: VLLM", "  kind: VLLM skip_model_check: 1"),
           With("  kind: VLLM", "  kind: VLLM skip_model_check: f"),
           With("repeats: 3", "repeats: 3 timeouts < connect_s: 1.5f >"),
           With("repeats: 3",
                "repeats: 3 timeouts: { connect_s: 1e1 "
                "request_s: .5 first_token_s: 2 "
                "between_tokens_s: 2.F }"),
           With("  concurrency: 4", "  concurrency: [1, 4] concurrency: 5"),
           With("cases {",
                "cases: [{id: \"z\" input_tokens: 1 output_tokens: 1 "
                "concurrency: [1] requests: 2}, <id: \"y\" "
                "input_tokens: 1 output_tokens: 1 concurrency: 1 "
                "requests: 2>]\ncases {"),
           With("  id: \"short\"", "  id: \"short\" include_usage: false"),
       }) {
    const ParsedSuite parsed = ParseSuite(text);
    EXPECT_THAT(FormatProblems("s", parsed.problems), IsEmpty()) << text;
    v1::Suite theirs;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &theirs))
        << text;
    EXPECT_EQ(parsed.suite.DebugString(), theirs.DebugString());
  }
}

TEST(SuiteParserTest, EachWrongValueIsReportedAtItself) {
  const struct {
    const char* line;
    const char* instead;
    const char* problems;
  } kCases[] = {
      {"  concurrency: 4", "  concurrency: 010",
       "s:13:16: concurrency must not start with 0, which makes it octal: "
       "found 010, write 10\n"},
      {"  concurrency: 4", "  concurrency: 00",
       "s:13:16: concurrency must not start with 0, which makes it octal: "
       "found 00, write 0\n"},
      {"  requests: 64", "  requests: 1e3",
       "s:14:13: requests takes a whole number, found 1e3\n"},
      {"  requests: 64", "  requests: 64.0",
       "s:14:13: requests takes a whole number, found 64.0\n"},
      {"  requests: 64", "  requests: -1",
       "s:14:13: requests must not be negative, found -1\n"},
      {"  requests: 64", "  requests: 4294967296",
       "s:14:13: requests is out of range: found 4294967296, the limit is "
       "4294967295\n"},
      {"  requests: 64", "  requests: 0x",
       "s:14:13: requests takes a whole number, found 0x\n"},
      {"  requests: 64", "  requests: 12ab",
       "s:14:13: requests takes a whole number, found 12ab\n"},
      {"  requests: 64", "  requests: \"64\"",
       "s:14:13: requests takes a whole number, without quotes\n"},
      {"  requests: 64", "  requests: inf",
       "s:14:13: requests takes a whole number, found inf\n"},
      {"  requests: 64", "  requests: +64",
       "s:14:13: requests takes a whole number, found \"+\"\n"},
      {"  requests: 64", "  requests: { }",
       "s:14:13: requests takes a whole number, not a block\n"},
      {"  requests: 64", "  requests: [64, 1.5, 010]",
       "s:14:18: requests takes a whole number, found 1.5\n"
       "s:14:23: requests must not start with 0, which makes it octal: found "
       "010, write 10\n"},
      {"  requests: 64",
       "  requests:", "s:15:1: requests takes a whole number, found \"}\"\n"},
      {"  requests: 64", "  requests 64",
       "s:14:12: expected \":\" after requests, found \"64\"\n"},
      {"  requests: 64", "  requests: 64 65",
       "s:14:16: expected the name of a field, found \"65\"\n"},
      {"repeats: 3", "repeats: 3 seed: 18446744073709551616",
       "s:3:18: seed is out of range: found 18446744073709551616, the limit is "
       "18446744073709551615\n"},
      {"repeats: 3", "repeats: 3 timeouts { connect_s: inf }",
       "s:3:34: connect_s must be finite, found inf\n"},
      {"repeats: 3", "repeats: 3 timeouts { connect_s: -nan }",
       "s:3:34: connect_s must be finite, found -nan\n"},
      {"repeats: 3", "repeats: 3 timeouts { connect_s: 1e999 }",
       "s:3:34: connect_s must be finite, found 1e999\n"},
      {"repeats: 3", "repeats: 3 timeouts { connect_s: 010 }",
       "s:3:34: connect_s must not start with 0, which makes it octal: found "
       "010, write 10\n"},
      {"repeats: 3", "repeats: 3 timeouts: 5",
       "s:3:22: timeouts takes a block: timeouts { ... }\n"},
      {"repeats: 3", "repeats: 3\nrepeats: 4",
       "s:4:1: repeats is given twice; first at 3:10\n"},
      {"  kind: VLLM", "  kind: VLM",
       "s:6:9: kind has no value VLM; did you mean VLLM? (one of VLLM, SGLANG, "
       "LLAMACPP, OPENAI)\n"},
      {"  kind: VLLM", "  kind: NOPE",
       "s:6:9: kind has no value NOPE (one of VLLM, SGLANG, LLAMACPP, "
       "OPENAI)\n"},
      {"  kind: VLLM", "  kind: 9",
       "s:6:9: kind has no value 9 (one of VLLM, SGLANG, LLAMACPP, OPENAI)\n"},
      {"  kind: VLLM", "  kind: \"VLLM\"",
       "s:6:9: kind takes a name without quotes, one of VLLM, SGLANG, "
       "LLAMACPP, OPENAI\n"},
      {"  kind: VLLM", "  kind: VLLM skip_model_check: yes",
       "s:6:32: skip_model_check takes true or false, found yes\n"},
      {"model: \"m\"", "model: m", "s:2:8: model takes text in quotes\n"},
      {"model: \"m\"", "model: [\"m\"]",
       "s:2:8: model takes text in quotes, not a list\n"},
      {"model: \"m\"", "model: \"m",
       "s:2:8: text has no closing \" on its line\n"},
      {"model: \"m\"", "model: \"a\\q\"",
       "s:2:10: wrong escape in a text; a backslash itself is \\\\\n"},
      {"model: \"m\"", "model: \"\\351\"",
       "s:2:8: escapes in a text make bytes that are no UTF-8\n"},
      {"  base_url: \"http://127.0.0.1:8000\"",
       "  base_url: http://127.0.0.1:8000",
       "s:7:13: base_url takes text in quotes\n"},
      {"  base_url: \"http://127.0.0.1:8000\"",
       "  base_url: \"http://127.0.0.1:8000\" /",
       "s:7:37: expected the name of a field, found \"/\"\n"},
      {"  base_url: \"http://127.0.0.1:8000\"",
       "\tbase_url: \"http://\xc3\xa9\" } }",
       "s:7:12: engine \"vllm\": bad base_url: the host may hold letters, "
       "digits, '.', '-' and '_'\n"
       "s:7:25: unexpected \"}\": no block is open here\n"
       "s:8:1: unexpected \"}\": no block is open here\n"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Replaced(c.line, c.instead), c.problems) << c.instead;
  }
}

TEST(SuiteParserTest, MisspeltFieldsAreReportedOnceWithTheNearestName) {
  EXPECT_EQ(Replaced("  concurrency: 4", "  concurency: [4, 8]"),
            "s:13:3: unknown field \"concurency\" in cases; did you mean "
            "\"concurrency\"?\n");
  EXPECT_EQ(Replaced("engines {", "engine {"),
            "s:4:1: unknown field \"engine\"; did you mean \"engines\"?\n");
  EXPECT_EQ(Replaced("  kind: VLLM", "  kind: VLLM banana { a: [1] b { } }"),
            "s:6:14: unknown field \"banana\" in engines\n");
  EXPECT_EQ(Replaced("repeats: 3", "repeats: 3 timeouts { conect_s: 1 }"),
            "s:3:23: unknown field \"conect_s\" in timeouts; did you mean "
            "\"connect_s\"?\n");
}

TEST(SuiteParserTest, AllProblemsComeInOneAnswer) {
  EXPECT_EQ(Problems(R"(name: "x"
model: "m"
repets: 3
engines { name: "a" kind: VLLM }
cases {
  id: "c"
  input_tokens: 128
  output_tokens: 64
  concurency: 4
  requests: 8
}
cases { id: "d" input_tokens: 1 output_tokens: 1 concurrency: 0 requests: 8 }
cases { id: "c" input_tokens: 1 output_tokens: 1 concurrency: 1 requests: 8 }
)"),
            "s:3:1: unknown field \"repets\"; did you mean \"repeats\"?\n"
            "s:4:1: engine \"a\": no base_url, such as "
            "\"http://127.0.0.1:8000\"\n"
            "s:9:3: unknown field \"concurency\" in cases; did you mean "
            "\"concurrency\"?\n"
            "s:12:63: case \"d\": concurrency must be at least 1, found 0\n"
            "s:13:13: case \"c\": id comes twice; first at 6:7\n");
}

TEST(SuiteParserTest, ProblemsCarryTheirFieldsPath) {
  const ParsedSuite parsed =
      ParseSuite(With("  requests: 64", "  requests: [1, 2]"));
  ASSERT_EQ(parsed.problems.size(), 1u);
  EXPECT_EQ(parsed.problems[0].field, "cases[0].requests");
  EXPECT_EQ(parsed.problems[0].line, 14);
  EXPECT_EQ(parsed.problems[0].column, 3);
}

TEST(SuiteParserTest, ABlockThatIsNotClosedIsReportedWhereItOpens) {
  EXPECT_EQ(Problems("name: \"x\"\nengines {\n  name: \"a\"\n"),
            "s:2:9: \"{\" is never closed\n");
  const std::string missing_brace =
      absl::StrReplaceAll(kSuite, {{"}\nc", "c"}});
  EXPECT_EQ(
      Problems(missing_brace),
      "s:4:9: \"{\" is never closed\n"
      "s:8:1: unknown field \"cases\" in engines; it belongs to the suite "
      "itself: is a \"}\" missing before it?\n");
  EXPECT_EQ(Replaced("  concurrency: 4", "  concurrency: [4, 8"),
            "s:14:3: expected \",\" or \"]\" in the list of concurrency that "
            "opens at 13:16, found \"requests\"\n");
  EXPECT_EQ(Replaced("engines {", "engines <"),
            "s:8:1: expected \">\" to close the block, found \"}\"\n");
}

TEST(SuiteParserTest, ByteOrderMarkAndWindowsLineEndsWork) {
  EXPECT_THAT(Problems(absl::StrCat("\xef\xbb\xbf", kSuite)), IsEmpty());
  const std::string crlf = absl::StrReplaceAll(kSuite, {{"\n", "\r\n"}});
  EXPECT_THAT(Problems(crlf), IsEmpty());
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(crlf, {{"kind:", "kin:"}})),
      "s:6:3: unknown field \"kin\" in engines; did you mean \"kind\"?\n");
  const std::string cr = absl::StrReplaceAll(kSuite, {{"\n", " # x\r"}});
  EXPECT_THAT(Problems(cr), IsEmpty());
  EXPECT_EQ(Problems(absl::StrCat("\xef\xbb\xbf", "x: 1 ", kSuite)),
            "s:1:1: unknown field \"x\"\n");
}

TEST(SuiteParserTest, Latin1IsRefusedWithItsLineAndNothingElse) {
  EXPECT_EQ(Replaced("model: \"m\"", "model: \"caf\xe9\""),
            "s:2:12: byte 0xE9 is not UTF-8; save the file as UTF-8 (is it "
            "Latin-1?)\n");
  EXPECT_EQ(Replaced("model: \"m\"", "model: \"m\" # caf\xe9 \xe9"),
            "s:2:17: byte 0xE9 is not UTF-8; save the file as UTF-8 (is it "
            "Latin-1?)\n");
}

TEST(SuiteParserTest, ColumnsCountCharacters) {
  EXPECT_EQ(Replaced("model: \"m\"", "model: \"caf\xc3\xa9\" x: 1"),
            "s:2:15: unknown field \"x\"\n");
}

TEST(SuiteParserTest, CurlyQuotesGiveOneMessage) {
  const std::string text = absl::StrReplaceAll(
      kSuite, {{"\"m\"", "\xe2\x80\x9cm\xe2\x80\x9d"},
               {"\"short\"", "\xe2\x80\x98short\xe2\x80\x99"}});
  EXPECT_EQ(Problems(text),
            "s:2:8: curly quotes, as word processors make them: write "
            "\"straight\" ones (2 places)\n");
  EXPECT_EQ(Replaced("model: \"m\"", "\xc2\xa0model: \"m\""),
            "s:2:1: character U+00A0 (no-break space) outside of a quoted "
            "text\n");
}

TEST(SuiteParserTest, TextsThatAreNoSuiteGetOneMessage) {
  const std::string nul("name: \"a\"\nmodel: \"\0\"\0", 20);
  EXPECT_EQ(Problems(nul),
            "s:2:9: holds a NUL byte, so it is no text file in UTF-8\n");
  EXPECT_THAT(Problems(std::string("\xff\xfen\0a\0m\0", 8)),
              HasSubstr("s:1:4: holds a NUL byte"));
  EXPECT_EQ(Problems(std::string(6 << 20, ' ')),
            "s: is 6291456 bytes long; a suite has at most 1048576 (1 MiB)\n");
}

TEST(SuiteParserTest, AnEmptyFileLacksEverything) {
  for (const std::string text : {"", "# nothing\n", "\xef\xbb\xbf", " \r\n"}) {
    const std::string problems = Problems(text);
    EXPECT_THAT(problems, HasSubstr("s: no engine"));
    EXPECT_THAT(problems, HasSubstr("s: no case"));
    EXPECT_THAT(problems, HasSubstr("s: no name"));
    EXPECT_THAT(problems, HasSubstr("s: no repeats"));
  }
}

TEST(SuiteParserTest, ManyProblemsAreCutShort) {
  std::string text;
  for (int i = 0; i < 150; ++i) absl::StrAppend(&text, "zzzzz: 1\n");
  const ParsedSuite parsed = ParseSuite(absl::StrCat(kSuite, text));
  ASSERT_EQ(parsed.problems.size(), 101u);
  EXPECT_EQ(parsed.problems.back().message, "and 50 more problems");
}

TEST(SuiteParserTest, WhatMayBeASecretIsNotRepeated) {
  for (const std::string line :
       {"api_key: \"sk-secret\"", "api_key_env: \"sk-secret\"",
        "api_key_env: secret", "headers: \"Authorization: Bearer secret\"",
        "headers: \"X-Api-Key: secret\"", "headers: \"secret\"",
        "base_url2: \"http://secret@h\"", "skip_model_check: \"secret\"",
        "ca_file: 5 \"secret\"", "\"secret\""}) {
    const std::string problems =
        Replaced("  kind: VLLM", "  kind: VLLM " + line);
    EXPECT_THAT(problems, Not(IsEmpty())) << line;
    EXPECT_THAT(problems, Not(HasSubstr("secret"))) << line;
  }
}

}  // namespace
}  // namespace benchfleet
