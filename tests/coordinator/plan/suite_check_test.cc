#include "coordinator/plan/suite_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/plan/suite_parser.h"
#include "tests/coordinator/plan/good_suite.h"

namespace benchfleet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct LineCase {
  const char* line;
  const char* instead;
  const char* problems;
};

TEST(SuiteCheckTest, RequiredFieldsAreMissedAtTheirBlock) {
  const LineCase kCases[] = {
      {"name: \"smoke\"", "", "s: no name: add name: \"...\"\n"},
      {"name: \"smoke\"", "name: \"\"", "s:1:7: no name: add name: \"...\"\n"},
      {"repeats: 3", "", "s: no repeats: add repeats: 3\n"},
      {"model: \"m\"", "",
       "s:4:1: engine \"vllm\": no model, neither here nor in the suite\n"},
      {"  name: \"vllm\"", "", "s:4:1: engines[0]: no name\n"},
      {"  kind: VLLM", "",
       "s:4:1: engine \"vllm\": no kind: VLLM, SGLANG, LLAMACPP or OPENAI\n"},
      {"  kind: VLLM", "  kind: ENGINE_KIND_UNSPECIFIED",
       "s:6:9: engine \"vllm\": no kind: VLLM, SGLANG, LLAMACPP or OPENAI\n"},
      {"  base_url: \"http://127.0.0.1:8000\"", "",
       "s:4:1: engine \"vllm\": no base_url, such as "
       "\"http://127.0.0.1:8000\"\n"},
      {"  id: \"short\"", "", "s:9:1: cases[0]: no id\n"},
      {"  input_tokens: 128", "", "s:9:1: case \"short\": no input_tokens\n"},
      {"  output_tokens: 64", "", "s:9:1: case \"short\": no output_tokens\n"},
      {"  concurrency: 4", "", "s:9:1: case \"short\": no concurrency\n"},
      {"  concurrency: 4", "  concurrency: []",
       "s:13:3: case \"short\": no concurrency\n"},
      {"  requests: 64", "", "s:9:1: case \"short\": no requests\n"},
  };
  for (const LineCase& c : kCases) {
    EXPECT_EQ(Replaced(c.line, c.instead), c.problems) << c.line;
  }
}

TEST(SuiteCheckTest, NumbersHaveTheirLimits) {
  const LineCase kCases[] = {
      {"repeats: 3", "repeats: 0",
       "s:3:10: repeats must be at least 1, found 0\n"},
      {"repeats: 3", "repeats: 1001",
       "s:3:10: repeats must be at most 1000, found 1001\n"},
      {"repeats: 3", "repeats: 3 max_attempts: 101",
       "s:3:26: max_attempts must be at most 100, found 101\n"},
      {"  input_tokens: 128", "  input_tokens: 0",
       "s:11:17: case \"short\": input_tokens must be at least 1, found 0\n"},
      {"  output_tokens: 64", "  output_tokens: 0",
       "s:12:18: case \"short\": output_tokens must be at least 1, found 0\n"},
      {"  output_tokens: 64", "  output_tokens: 10000001",
       "s:12:18: case \"short\": output_tokens must be at most 10000000, found "
       "10000001\n"},
      {"  output_tokens: 64", "  output_tokens: 1", ""},
      {"  requests: 64", "  requests: 0",
       "s:14:13: case \"short\": requests must be at least 1, found 0\n"},
      {"  requests: 64", "  requests: 10000001",
       "s:14:13: case \"short\": requests must be at most 10000000, found "
       "10000001\n"},
      {"  concurrency: 4", "  concurrency: 100001 allow_partial_concurrency: 1",
       "s:13:16: case \"short\": concurrency must be at most 100000, found "
       "100001\n"},
      {"repeats: 3", "repeats: 3 timeouts { connect_s: 0 }",
       "s:3:34: timeouts: connect_s must be over 0 and at most 604800, found "
       "0\n"},
      {"repeats: 3", "repeats: 3 timeouts { request_s: -1.5 }",
       "s:3:34: timeouts: request_s must be over 0 and at most 604800, found "
       "-1.5\n"},
      {"repeats: 3", "repeats: 3 context_window: 191",
       "s:11:17: case \"short\": input_tokens 128 and output_tokens 64 are 192 "
       "together, over context_window 191\n"},
      {"repeats: 3", "repeats: 3 context_window: 192", ""},
  };
  for (const LineCase& c : kCases) {
    EXPECT_EQ(Replaced(c.line, c.instead), c.problems) << c.instead;
  }
}

TEST(SuiteCheckTest, RequestsBelowConcurrencyMustBeAllowed) {
  EXPECT_EQ(Replaced("  requests: 64", "  requests: 3"),
            "s:14:13: case \"short\": requests 3 never reach concurrency 4; "
            "raise requests, or say allow_partial_concurrency: true\n");
  EXPECT_THAT(Replaced("  requests: 64",
                       "  requests: 3 allow_partial_concurrency: true"),
              IsEmpty());
  EXPECT_EQ(Replaced("  requests: 64", "  concurrency: 8 requests: [4, 7]"),
            "s:14:32: case \"short\": requests 7 never reach concurrency 8; "
            "raise requests, or say allow_partial_concurrency: true\n");
  EXPECT_EQ(Replaced("  requests: 64", "  concurrency: 8 requests: 4"),
            "s:14:28: case \"short\": requests 4 never reach concurrency 8; "
            "raise requests, or say allow_partial_concurrency: true\n");
}

TEST(SuiteCheckTest, ListsHaveOneValueOrOneForEachConcurrency) {
  EXPECT_THAT(Replaced("  requests: 64",
                       "  concurrency: 8 requests: [64, 65] "
                       "warmup_requests: [0, 1]"),
              IsEmpty());
  EXPECT_EQ(
      Replaced("  requests: 64", "  requests: [64, 65]"),
      "s:14:3: case \"short\": requests has 2 values for concurrency's 1; "
      "give one for all or one for each\n");
  EXPECT_EQ(
      Replaced("  requests: 64", "  requests: 64 warmup_requests: [1, 2, 3]"),
      "s:14:16: case \"short\": warmup_requests has 3 values for "
      "concurrency's 1; give one for all or one for each\n");
}

TEST(SuiteCheckTest, EngineNamesMustDiffer) {
  const std::string second = " kind: VLLM base_url: \"http://h\" }\nengines {";
  EXPECT_EQ(Replaced("engines {", "engines { name: \"vllm\"" + second),
            "s:6:9: engine \"vllm\": name comes twice; first at 4:17\n");
  EXPECT_EQ(Replaced("engines {", "engines { name: \"V LLM\"" + second),
            "s:6:9: engine \"vllm\": name differs only in case or blanks from "
            "another; first at 4:17\n");
}

TEST(SuiteCheckTest, CaseIdsMustDifferAsWrittenAndAsExpanded) {
  const auto with = [](const std::string& id, const std::string& list) {
    return Replaced("cases {",
                    absl::StrCat("cases { id: \"", id,
                                 "\" input_tokens: 1 output_tokens: 1 "
                                 "concurrency: ",
                                 list, " requests: 9 }\ncases {"));
  };
  EXPECT_THAT(with("other", "4"), IsEmpty());
  EXPECT_THAT(with("short-c4", "4"), IsEmpty());
  EXPECT_EQ(with("short", "4"),
            "s:11:7: case \"short\": id comes twice; first at 9:13\n");
  EXPECT_EQ(with("Short", "[1, 2]"),
            "s:11:7: case \"short\": id differs only in case or blanks from "
            "another; first at 9:13\n");
  EXPECT_EQ(with("x", "[1, 2, 1]"),
            "s:9:70: case \"x\": concurrency 1 is listed twice\n");
  EXPECT_EQ(Replaced("cases {",
                     "cases { id: \"x\" input_tokens: 1 output_tokens: 1 "
                     "concurrency: [1, 4] requests: 9 }\n"
                     "cases { id: \"X-c4\" input_tokens: 1 output_tokens: 1 "
                     "concurrency: 4 requests: 9 }\ncases {"),
            "s:10:13: case \"X-c4\": it makes a case \"X-c4\", and so does the "
            "one at 9:13\n");
}

TEST(SuiteCheckTest, IdsHaveOnlySafeCharacters) {
  for (const char* id : {"a/b", "a b", "../x", ".a", "-a", "caf\xc3\xa9"}) {
    EXPECT_EQ(Replaced("  id: \"short\"", absl::StrCat("  id: \"", id, "\"")),
              absl::StrCat("s:10:7: case \"", id,
                           "\": id takes letters, digits, '.', '_' and '-', "
                           "and starts with a letter or digit\n"));
  }
  EXPECT_EQ(Replaced("  id: \"short\"", "  id: \"a \""),
            "s:10:7: id starts or ends with a blank\n");
  EXPECT_THAT(Replaced("  id: \"short\"",
                       absl::StrCat("  id: \"", std::string(101, 'a'), "\"")),
              HasSubstr("id is longer than 100 bytes"));
}

TEST(SuiteCheckTest, KeysComeFromOneNamedPlaceAndNeverFromTheSuite) {
  const LineCase kCases[] = {
      {"  kind: VLLM", "  kind: VLLM api_key_env: \"KEY\"", ""},
      {"  kind: VLLM", "  kind: VLLM api_key_file: \"/etc/key\"", ""},
      {"  kind: VLLM", "  kind: VLLM api_key_env: \"A\" api_key_file: \"b\"",
       "s:6:45: engine \"vllm\": api_key_env and api_key_file are both given; "
       "keep one\n"},
      {"  kind: VLLM", "  kind: VLLM api_key_env: \"sk-123\"",
       "s:6:27: engine \"vllm\": api_key_env takes the name of an environment "
       "variable (letters, digits, '_'), never the key itself\n"},
      {"  kind: VLLM", "  kind: VLLM headers: \"X-Team: a\"", ""},
      {"  kind: VLLM", "  kind: VLLM headers: \"authorization: Bearer x\"",
       "s:6:23: engine \"vllm\": header authorization would put a key into the "
       "suite, which is stored; use api_key_env or api_key_file\n"},
      {"  kind: VLLM", "  kind: VLLM headers: [\"A: b\", \"nonsense\"]",
       "s:6:32: engine \"vllm\": a header is written \"Name: value\"\n"},
      {"  kind: VLLM", "  kind: VLLM headers: \"A b: c\"",
       "s:6:23: engine \"vllm\": a header is written \"Name: value\"\n"},
      {"  kind: VLLM", "  kind: VLLM headers: \"A:\"",
       "s:6:23: engine \"vllm\": header A has no value\n"},
      {"  kind: VLLM", "  kind: VLLM headers: \"Content-Length: 3\"",
       "s:6:23: engine \"vllm\": header Content-Length is set by the agent\n"},
      {"  kind: VLLM", "  kind: VLLM headers: \"A: b\\r\\nC: d\"",
       "s:6:23: headers holds a control character, such as an end of line\n"},
  };
  for (const LineCase& c : kCases) {
    EXPECT_EQ(Replaced(c.line, c.instead), c.problems) << c.instead;
  }
}

TEST(SuiteCheckTest, TokenIdsGoOnlyWhereTheyAreTaken) {
  const std::string ids = "  requests: 64 prompt_format: TOKEN_IDS";
  EXPECT_THAT(Replaced("  requests: 64", ids), IsEmpty());
  EXPECT_EQ(Replaced("  requests: 64", ids + " endpoint: CHAT"),
            "s:14:31: case \"short\": prompt_format TOKEN_IDS does not go with "
            "endpoint CHAT, which takes text only\n");
  EXPECT_EQ(Problems(absl::StrReplaceAll(
                kSuite, {{"  requests: 64", ids}, {"VLLM", "OPENAI"}})),
            "s:14:31: case \"short\": prompt_format TOKEN_IDS does not go with "
            "engine \"vllm\" of kind OPENAI; leave it out or say TEXT\n");
}

TEST(SuiteCheckTest, RoundsAreBounded) {
  std::string list;
  for (int i = 1; i <= 101; ++i) absl::StrAppend(&list, i > 1 ? "," : "", i);
  const std::string text = absl::StrReplaceAll(
      kSuite, {{"repeats: 3", "repeats: 1000"},
               {"concurrency: 4", absl::StrCat("concurrency: [", list, "]")},
               {"requests: 64", "requests: 200"}});
  EXPECT_EQ(Problems(text),
            "s:3:10: engines x cases x repeats are 1 x 101 x 1000 = 101000 "
            "rounds; the "
            "limit is 100000\n");
}

TEST(SuiteCheckTest, TextsAreOneCleanLine) {
  EXPECT_EQ(Replaced("model: \"m\"", "model: \"a\\033[31m\""),
            "s:2:8: model holds a control character, such as an end of line\n");
  EXPECT_EQ(Replaced("model: \"m\"", "model: \" m\""),
            "s:2:8: model starts or ends with a blank\n");
  EXPECT_EQ(Replaced("model: \"m\"",
                     absl::StrCat("model: \"", std::string(4097, 'm'), "\"")),
            "s:2:8: model is longer than 4096 bytes\n");
}

TEST(SuiteCheckTest, MessagesShowNamesEscapedAndCutShort) {
  const std::string longest(100, 'x');
  EXPECT_EQ(Replaced("  id: \"short\"",
                     absl::StrCat("  id: \"", longest, "y\\033\"")),
            absl::StrCat("s:10:7: case \"", longest,
                         "...\": id takes letters, digits, '.', '_' and '-', "
                         "and starts with a letter or digit\n"
                         "s:10:7: id holds a control character, such as an end "
                         "of line\n"));
  EXPECT_THAT(Problems(absl::StrReplaceAll(
                  kSuite, {{"  kind: VLLM", ""}, {"\"vllm\"", "'a\\033\"'"}})),
              HasSubstr(R"(engine "a\033\"": no kind)"));
}

}  // namespace
}  // namespace benchfleet
