#include "agent/http/chunk.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

ChunkFacts Parse(absl::string_view json) {
  ChunkFacts facts;
  EXPECT_TRUE(ParseChunk(json, &facts)) << json;
  return facts;
}

std::string RoleName(absl::string_view json, bool chat, bool begun) {
  switch (RoleOf(Parse(json), chat, begun)) {
    case ChunkRole::kNone:
      return "none";
    case ChunkRole::kContent:
      return "content";
    case ChunkRole::kEnd:
      return "end";
  }
  return "";
}

TEST(ChunkTest, CompletionsChunksHaveTheirRoles) {
  struct Row {
    const char* choice;
    const char* role;
  };
  const Row rows[] = {
      {R"({"text":"a"})", "content"},
      {R"({"text":"","finish_reason":null})", "content"},
      {R"({"text":"","finish_reason":""})", "content"},
      {R"({"text":null})", "content"},
      {R"({"text":"a","finish_reason":"stop"})", "content"},
      {R"({"text":"","finish_reason":"stop"})", "end"},
      {R"({"finish_reason":"length"})", "end"},
      {R"({"text":"\ud83d"})", "content"},
      {"{\"text\":\"\xE6\xBC\"}", "content"},
      {R"({"finish_reason":"stop","logprobs":{"x":[1]},"text":"a"})",
       "content"},
      {R"({"text":""},{"text":"b","finish_reason":"stop"})", "content"},
      {R"({"text":"","finish_reason":"stop"},{"text":""})", "end"},
  };
  for (const Row& row : rows) {
    const std::string json = absl::StrCat(
        R"({"id":"choices","object":"text_completion","choices":[)", row.choice,
        "]}");
    EXPECT_EQ(RoleName(json, false, false), row.role) << json;
  }
}

TEST(ChunkTest, ChatChunksHaveTheirRolesBeforeAndAfterOutputBegan) {
  struct Row {
    const char* delta;
    const char* before;
    const char* after;
  };
  const Row rows[] = {
      {R"({"role":"assistant"})", "none", "none"},
      {R"({"role":"assistant","content":""})", "none", "content"},
      {R"({"role":"assistant","content":null})", "none", "none"},
      {R"({"content":"a"})", "content", "content"},
      {R"({"content":""})", "none", "content"},
      {R"({})", "none", "none"},
      {R"(null)", "none", "none"},
      {R"({"reasoning_content":"a"})", "content", "content"},
      {R"({"reasoning":"a","content":null})", "content", "content"},
      {R"({"refusal":"no"})", "content", "content"},
      {R"({"refusal":null,"content":"a"})", "content", "content"},
      {R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})",
       "content", "content"},
      {R"({"tool_calls":[ ]})", "none", "none"},
      {R"({"tool_calls":null})", "none", "none"},
  };
  for (const Row& row : rows) {
    const std::string json =
        absl::StrCat(R"({"choices":[{"index":0,"delta":)", row.delta,
                     R"(,"finish_reason":null}]})");
    EXPECT_EQ(RoleName(json, true, false), row.before) << json;
    EXPECT_EQ(RoleName(json, true, true), row.after) << json;
  }
  EXPECT_EQ(RoleName(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})",
                     true, true),
            "end");
  EXPECT_EQ(RoleName(R"({"choices":[{"finish_reason":"stop"}]})", true, true),
            "end");
}

TEST(ChunkTest, ProgressOfThePromptIsNoOutput) {
  EXPECT_EQ(
      RoleName(R"({"choices":[{"text":""}],"prompt_progress":{"total":9}})",
               false, false),
      "none");
  EXPECT_EQ(RoleName(R"({"prompt_progress":{"total":9}})", true, true), "none");
  EXPECT_EQ(RoleName(R"({"choices":[{"text":"a"}],"prompt_progress":null})",
                     false, false),
            "content");
}

TEST(ChunkTest, ChoicesMayBeMissingNullOrEmptyAndAnywhere) {
  EXPECT_FALSE(Parse(R"({})").has_choice);
  EXPECT_FALSE(Parse(R"({"choices":[]})").has_choice);
  EXPECT_FALSE(Parse(R"({"choices":null})").has_choice);
  EXPECT_FALSE(
      Parse(R"({"text":"\"choices\":[{\"text\":\"a\"}]"})").has_choice);
  EXPECT_TRUE(Parse(R"({"usage":null,"x":[[{}]],"choices":[{}]})").has_choice);
}

TEST(ChunkTest, UsageIsReadUnlessNull) {
  EXPECT_FALSE(Parse(R"({"usage":null})").usage);
  EXPECT_FALSE(Parse(R"({"usage":{}})").usage);
  const ChunkFacts facts = Parse(
      R"({"usage":{"completion_tokens_details":{"completion_tokens":9},
          "prompt_tokens":4,"completion_tokens":2,"total_tokens":6}})");
  ASSERT_TRUE(facts.usage);
  EXPECT_EQ(facts.usage->prompt_tokens, 4);
  EXPECT_EQ(facts.usage->completion_tokens, 2);
  EXPECT_FALSE(facts.usage->Contradictory());
  EXPECT_EQ(
      Parse(R"({"usage":{"completion_tokens":3.0}})").usage->completion_tokens,
      3);
}

TEST(ChunkTest, AbsurdOrUnequalUsageIsContradictory) {
  for (const char* usage :
       {R"({"completion_tokens":-1})", R"({"completion_tokens":1.5})",
        R"({"completion_tokens":"2"})", R"({"completion_tokens":1e300})",
        R"({"completion_tokens":NaN})",
        R"({"completion_tokens":99999999999999999999})",
        R"({"prompt_tokens":4,"completion_tokens":2,"total_tokens":9})"}) {
    const ChunkFacts facts = Parse(absl::StrCat(R"({"usage":)", usage, "}"));
    ASSERT_TRUE(facts.usage) << usage;
    EXPECT_TRUE(facts.usage->Contradictory()) << usage;
  }
}

TEST(ChunkTest, ErrorsAreKnownInAllTheirForms) {
  for (const char* json :
       {R"({"error":{"message":"m"}})", R"({"error":"m"})",
        R"({"error":{"message":"m"},"choices":[]})",
        R"({"object":"error","message":"m"})", R"({"detail":"m"})",
        R"({"detail":[{"msg":"m"}]})"}) {
    EXPECT_TRUE(Parse(json).is_error) << json;
  }
  for (const char* json :
       {R"({"error":null,"choices":[]})", R"({"error":"","choices":[]})",
        R"({"object":"text_completion"})", R"({"detail":"x","choices":[]})",
        R"({"choices":[{"text":"\"error\":1"}]})"}) {
    EXPECT_FALSE(Parse(json).is_error) << json;
  }
}

TEST(ChunkTest, WhatIsNoWholeObjectIsRefused) {
  ChunkFacts facts;
  for (const char* json : {"", "[]", "1", "\"a\"", "{", "{\"choices\":[{]}",
                           "{\"choices\":[]}x", "{\"choices\":[{\"te"}) {
    EXPECT_FALSE(ParseChunk(json, &facts)) << json;
  }
}

}  // namespace
}  // namespace benchfleet
