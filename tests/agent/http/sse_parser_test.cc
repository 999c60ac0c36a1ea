#include "agent/http/sse_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "name|data", with "!error" if the event has that field.
std::string Show(const SseEvent& event) {
  std::string text = absl::StrCat(event.name, "|", event.data);
  if (event.has_error_field) absl::StrAppend(&text, "!", event.error);
  return text;
}

std::vector<std::string> Events(const std::vector<std::string>& pieces) {
  SseParser parser;
  std::vector<std::string> events;
  SseEvent event;
  for (const std::string& piece : pieces) {
    const std::string copy = piece;  // gone after this turn
    parser.Push(copy);
    while (parser.Next(&event)) events.push_back(Show(event));
  }
  if (parser.Unfinished(&event)) events.push_back("rest:" + Show(event));
  return events;
}

TEST(SseParserTest, FollowsTheStandard) {
  struct Row {
    const char* input;
    std::vector<std::string> events;
  };
  const Row rows[] = {
      {"data: a\n\n", {"|a"}},
      {"data:a\n\n", {"|a"}},
      {"data:  a\n\n", {"| a"}},
      {"data: a\ndata: b\n\n", {"|a\nb"}},
      {"data\ndata\n\n", {"|\n"}},
      {"data:\n\n", {"|"}},
      {"data: a\r\n\r\ndata: b\r\n\r\n", {"|a", "|b"}},
      {"data: a\r\rdata: b\r\r", {"|a", "|b"}},
      {"data: a\n\r\ndata: b\r\n\n", {"|a", "|b"}},
      {"\xEF\xBB\xBF"
       "data: a\n\n",
       {"|a"}},
      {"\xEF\xBB"
       "data: a\n\ndata: b\n\n",
       {"|b"}},
      {": ping\n\n: ping\r\n\r\n", {}},
      {"event: x\ndata: a\n\ndata: b\n\n", {"x|a", "|b"}},
      {"event: x\n\n", {}},
      {"event: error\n\n", {"error|"}},
      {"id: 1\nretry: 5\nfoo: bar\n\n", {}},
      {"error: {\"a\":1}\n\n", {"|!{\"a\":1}"}},
      {" data: a\n\n", {}},
      {"data: a", {"rest:|a"}},
      {"data: a\n", {"rest:|a"}},
      {"data: a\n\ndat", {"|a", "rest:|"}},
      {"data: a\n\n\n\n", {"|a"}},
      {"", {}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Events({row.input}), row.events) << row.input;
  }
}

TEST(SseParserTest, AnyTwoCutsGiveTheSameEvents) {
  const std::string input =
      "\xEF\xBB\xBF: hi\r\n\r\nevent: message\rdata: {\"a\":1}\r\rdata:b\n"
      "data: \xE6\xBC\xA2\n\nerror: no\n\n\r\n\r\ndata: [DONE]\r\n\r\ndata: re";
  const std::vector<std::string> whole = Events({input});
  EXPECT_THAT(whole, ElementsAre("message|{\"a\":1}", "|b\n\xE6\xBC\xA2",
                                 "|!no", "|[DONE]", "rest:|re"));
  for (size_t i = 0; i <= input.size(); ++i) {
    for (size_t j = i; j <= input.size(); ++j) {
      ASSERT_EQ(
          Events({input.substr(0, i), input.substr(i, j - i), input.substr(j)}),
          whole)
          << i << ", " << j;
    }
  }
}

TEST(SseParserTest, RandomStreamsCutAnywhereGiveTheSameEvents) {
  std::mt19937 random(7);
  const std::string alphabet = "da:\r\n\r\n :\xEF\xBB\xBF";
  for (int round = 0; round < 3000; ++round) {
    std::string input;
    for (int i = 0; i < 40; ++i) {
      if (random() % 4 == 0) {
        input += "data:";
      } else {
        input += alphabet[random() % alphabet.size()];
      }
    }
    std::vector<std::string> pieces;
    for (size_t at = 0; at < input.size();) {
      const size_t n = 1 + random() % 7;
      pieces.push_back(input.substr(at, n));
      at += n;
    }
    ASSERT_EQ(Events(pieces), Events({input}));
  }
}

TEST(SseParserTest, CarriageReturnAloneEndsTheBlankLineAtOnce) {
  SseParser parser;
  SseEvent event;
  parser.Push("data: a\r\n\r");
  ASSERT_TRUE(parser.Next(&event));
  EXPECT_EQ(event.data, "a");
}

TEST(SseParserTest, CarriageReturnAndLineFeedInTwoReadsAreOneLineEnd) {
  EXPECT_THAT(Events({"data: a\r", "\ndata: b\r", "", "\n\r", "\n"}),
              ElementsAre("|a\nb"));
}

TEST(SseParserTest, AWholeEventIsNotCopied) {
  SseParser parser;
  SseEvent event;
  const std::string input = "data: abc\n\n";
  parser.Push(input);
  ASSERT_TRUE(parser.Next(&event));
  EXPECT_EQ(event.data.data(), input.data() + 6);
}

TEST(SseParserTest, LongEventsPassAndTooLongOnesEndTheParsing) {
  const std::string megabyte(1 << 20, 'x');
  EXPECT_THAT(Events({"data: ", megabyte, "\n\n"}),
              ElementsAre("|" + megabyte));
  for (bool lines : {false, true}) {
    SseParser parser;
    SseEvent event;
    for (int i = 0; i < 9; ++i) {
      const std::string piece =
          lines ? absl::StrCat("data: ", megabyte, "\n")
                : absl::StrCat(i == 0 ? "data: " : "", megabyte);
      parser.Push(piece);
      EXPECT_FALSE(parser.Next(&event));
    }
    EXPECT_TRUE(parser.overflowed());
    parser.Push("\n\ndata: a\n\n");
    EXPECT_FALSE(parser.Next(&event));
    parser.Reset();
    parser.Push("data: a\n\n");
    EXPECT_TRUE(parser.Next(&event));
  }
}

TEST(SseParserTest, KnowsAStreamFromOtherText) {
  const auto saw_field = [](absl::string_view text) {
    SseParser parser;
    SseEvent event;
    parser.Push(text);
    while (parser.Next(&event)) {
    }
    parser.Unfinished(&event);
    return parser.saw_field();
  };
  for (const char* text : {"data: a", "da", "event: x\n", "data", "id: 1\n"}) {
    EXPECT_TRUE(saw_field(text)) << text;
  }
  for (const char* text : {"<html>\n<body>", "{\"choices\":[]}",
                           "{\n \"a\": 1\n}", ": ping\n", "<html>\nda"}) {
    EXPECT_FALSE(saw_field(text)) << text;
  }
}

}  // namespace
}  // namespace benchfleet
