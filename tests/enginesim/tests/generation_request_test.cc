#include "tests/enginesim/generation_request.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace benchfleet::enginesim {
namespace {

using ::testing::HasSubstr;

TEST(GenerationRequestTest, AWordIsAToken) {
  const std::pair<const char*, uint32_t> cases[] = {
      {"", 0}, {" \n", 0}, {"a", 1}, {" a  bc\td\n", 3}};
  for (const auto& [text, tokens] : cases) {
    EXPECT_EQ(CountTokens(text), tokens) << text;
    EXPECT_EQ(TokenIds(text).size(), tokens) << text;
  }
  EXPECT_EQ(TokenIds("a b a")[0], TokenIds("a b a")[2]);
}

TEST(GenerationRequestTest, CountsEveryFormOfPrompt) {
  const std::pair<const char*, uint32_t> cases[] = {
      {"\"a b c\"", 3},
      {"[5, 6, 7, 8]", 4},
      {"[\"a b\"]", 2},
      {"[[1, 2, 3]]", 3},
  };
  for (const auto& [prompt, tokens] : cases) {
    const auto request = ParseGenerationRequest(
        absl::StrCat("{\"prompt\":", prompt, "}"), false);
    ASSERT_TRUE(request.ok()) << prompt << request.status();
    EXPECT_EQ(request->prompt_tokens, tokens) << prompt;
  }
}

TEST(GenerationRequestTest, AChatAddsItsTemplate) {
  const auto request = ParseGenerationRequest(
      R"({"messages":[{"role":"system","content":"a b"},
          {"role":"user","content":[{"type":"text","text":"c"}]}],
          "max_completion_tokens":7})",
      true);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->prompt_tokens, 3 + 2 * kTokensPerMessage + kTokensPerChat);
  EXPECT_EQ(request->max_tokens, 7u);
}

TEST(GenerationRequestTest, ReadsAllOptions) {
  const auto request = ParseGenerationRequest(
      R"({"model":"m","prompt":"a","max_tokens":9,"min_tokens":4,
          "ignore_eos":true,"stream":true,"temperature":0,"top_p":null,
          "stream_options":{"include_usage":true,
                            "continuous_usage_stats":true}})",
      false);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->model, "m");
  EXPECT_EQ(request->max_tokens, 9u);
  EXPECT_EQ(request->min_tokens, 4u);
  EXPECT_TRUE(request->ignore_eos && request->stream &&
              request->include_usage && request->continuous_usage);
}

TEST(GenerationRequestTest, RefusesWhatMakesNoRequest) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "prompt is missing"},
      {"[]", "must be a JSON object"},
      {R"({"prompt":""})", "must not be empty"},
      {R"({"prompt":3})", "must be a string or a list"},
      {R"({"prompt":["a","b"]})", "one prompt per request"},
      {R"({"prompt":"a","max_tokens":0})", "at least 1"},
      {R"({"prompt":"a","max_tokens":-4})", "at least 0, got -4"},
      {R"({"prompt":"a","max_tokens":1.5})", "must be an integer"},
      {R"({"prompt":"a","stream":"yes"})", "must be a boolean"},
      {R"({"prompt":"a","stream_options":{}})", "stream=True"},
      {R"({"prompt":"a","max_tokens":2,"min_tokens":3})", "min_tokens"},
  };
  for (const auto& [body, message] : cases) {
    const auto request = ParseGenerationRequest(body, false);
    EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << body;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(message));
  }
  for (const char* body : {"", "{", "hello", "{\"prompt\":\"a\"} x"})
    EXPECT_TRUE(absl::IsDataLoss(ParseGenerationRequest(body, false).status()))
        << body;
}

}  // namespace
}  // namespace benchfleet::enginesim
