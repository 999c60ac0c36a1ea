#include "tests/enginesim/reply_stream.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/enginesim/truth_log.h"

namespace benchfleet::enginesim {
namespace {

using ::testing::HasSubstr;

TEST(ReplyStreamTest, AReusedFrameIsWhatABuiltOneWouldBe) {
  for (Flavour flavour :
       {Flavour::kVllm, Flavour::kSglang, Flavour::kLlamacpp}) {
    for (bool chat : {false, true}) {
      // The id holds what a search for the word could take for it.
      const ReplyFacts facts{.flavour = flavour,
                             .chat = chat,
                             .id = TokenText(0),
                             .model = TokenText(0)};
      ReplyStream stream(facts);
      for (uint32_t i = 1; i < 40; ++i) {
        const std::string event = absl::StrCat(
            "data: ", ContentChunk(facts, TokenText(i), i + 1, ""), "\n\n");
        EXPECT_EQ(stream.Token(i),
                  absl::StrCat(absl::Hex(event.size()), "\r\n", event, "\r\n"));
      }
    }
  }
}

TEST(ReplyStreamTest, OnlyTheFirstChatTokenBearsTheRole) {
  ReplyFacts facts;
  facts.chat = true;
  ReplyStream stream(facts);
  EXPECT_THAT(std::string(stream.Token(0)), HasSubstr("assistant"));
  EXPECT_THAT(std::string(stream.Token(1)),
              ::testing::Not(HasSubstr("assistant")));
}

TEST(ReplyStreamTest, StringsAreEscaped) {
  EXPECT_EQ(JsonString("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(TruthLineTest, IsOneJsonLine) {
  Truth truth;
  truth.n = 3;
  truth.path = "/v1/completions";
  truth.body_hash = "00ff";
  truth.token_ns = {5, 6};
  EXPECT_EQ(TruthLine(truth),
            "{\"id\":null,\"n\":3,\"path\":\"/v1/completions\","
            "\"body_hash\":\"00ff\",\"arrival_ns\":0,\"open\":0,"
            "\"token_ns\":[5,6],\"done_ns\":0,\"prompt_tokens\":0,"
            "\"output_tokens\":0,\"status\":0,\"end\":\"ok\"}\n");
}

}  // namespace
}  // namespace benchfleet::enginesim
