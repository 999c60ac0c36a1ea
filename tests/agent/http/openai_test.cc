#include "agent/http/openai.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/http/json_scanner.h"

namespace benchfleet {
namespace {

v1::ShareSpec Share(v1::EngineKind kind,
                    v1::Endpoint endpoint = v1::COMPLETIONS) {
  v1::ShareSpec share;
  share.mutable_engine()->set_kind(kind);
  share.mutable_engine()->set_model("m");
  share.set_endpoint(endpoint);
  share.set_output_tokens(64);
  share.set_include_usage(true);
  return share;
}

TEST(OpenAiTest, BodiesBearWhatTheEngineKnows) {
  EXPECT_EQ(CompletionBody(Share(v1::OPENAI), "hi"),
            R"({"model":"m","prompt":"hi","max_tokens":64,"temperature":0,)"
            R"("stream":true,"stream_options":{"include_usage":true}})");
  for (v1::EngineKind kind : {v1::VLLM, v1::SGLANG}) {
    EXPECT_EQ(CompletionBody(Share(kind), "hi"),
              R"({"model":"m","prompt":"hi","max_tokens":64,"min_tokens":64,)"
              R"("ignore_eos":true,"temperature":0,"stream":true,)"
              R"("stream_options":{"include_usage":true}})");
  }
  EXPECT_EQ(CompletionBody(Share(v1::LLAMACPP), "hi"),
            R"({"model":"m","prompt":"hi","max_tokens":64,"ignore_eos":true,)"
            R"("temperature":0,"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
}

TEST(OpenAiTest, ChatBodiesHaveOneUserMessageAndTheLimitTheServerReads) {
  EXPECT_EQ(CompletionBody(Share(v1::OPENAI, v1::CHAT), "hi"),
            R"({"model":"m","messages":[{"role":"user","content":"hi"}],)"
            R"("max_completion_tokens":64,"temperature":0,"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
  EXPECT_THAT(CompletionBody(Share(v1::LLAMACPP, v1::CHAT), "hi"),
              testing::HasSubstr(R"("max_tokens":64)"));
}

TEST(OpenAiTest, TokenIdsAreAListAndUsageIsLeftOutWhenNotAsked) {
  v1::ShareSpec share = Share(v1::OPENAI);
  share.set_include_usage(false);
  EXPECT_EQ(CompletionBody(share, std::vector<uint32_t>{1, 4294967295, 3}),
            R"({"model":"m","prompt":[1,4294967295,3],"max_tokens":64,)"
            R"("temperature":0,"stream":true})");
  EXPECT_THAT(CompletionBody(share, std::vector<uint32_t>{}),
              testing::HasSubstr(R"("prompt":[])"));
}

TEST(OpenAiTest, AnyTextIsEscaped) {
  std::string text;
  AppendJsonString(absl::string_view("a\"\\\n\x01\0\xE6\xBC\xA2/", 10), &text);
  EXPECT_EQ(text, "\"a\\\"\\\\\\n\\u0001\\u0000\xE6\xBC\xA2/\"");
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  const std::string body = CompletionBody(Share(v1::VLLM), all);
  JsonScanner json(body);
  json.Skip();
  EXPECT_TRUE(json.AtEnd());
}

TEST(OpenAiTest, HeadersBearTheKeyAndTheSuitesOwn) {
  v1::ShareSpec share = Share(v1::VLLM);
  share.mutable_engine()->add_headers("X-A: b");
  EXPECT_THAT(RequestHeaders(share, "k"),
              testing::ElementsAre("Content-Type: application/json",
                                   "Accept: text/event-stream",
                                   "Authorization: Bearer k", "X-A: b"));
  EXPECT_THAT(RequestHeaders(share, ""), testing::SizeIs(3));
}

TEST(OpenAiTest, PathsFollowTheEndpoint) {
  EXPECT_EQ(EndpointPath(Share(v1::VLLM)), "/v1/completions");
  EXPECT_EQ(EndpointPath(Share(v1::VLLM, v1::CHAT)), "/v1/chat/completions");
  EXPECT_EQ(EndpointPath(v1::ShareSpec()), "/v1/completions");
}

}  // namespace
}  // namespace benchfleet
