// What the cases leave open: see cases_test.cc for those.
#include "agent/http/response_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;
using testing::HasSubstr;

constexpr absl::string_view kToken =
    "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}\n\n";
constexpr absl::string_view kLast =
    "data: {\"choices\":[{\"text\":\"b\",\"finish_reason\":\"length\"}]}\n\n";
constexpr absl::string_view kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,"
    "\"completion_tokens\":2,\"total_tokens\":6}}\n\n";
constexpr absl::string_view kDone = "data: [DONE]\n\n";

struct Answer {
  int status = 200;
  std::string content_type = "text/event-stream";
  std::string content_encoding;
  std::string body;
  Kind end = Kind::kOk;
  std::string message;
  bool new_connection = true;
};

// The body comes at 1 ms, the end at 2 ms after the send.
v1::RequestTiming Read(const Answer& answer, const Asked& asked,
                       ResponseReader* reader) {
  reader->Reset(asked);
  reader->set_sent({1'000'000});
  if (answer.status != 0) {
    reader->OnHead(answer.status, answer.content_type, answer.content_encoding);
  }
  if (!answer.body.empty()) reader->OnBytes(answer.body, {2'000'000}, 1);
  TransportEnd end;
  end.kind = answer.end;
  end.message = answer.message;
  end.new_connection = answer.new_connection;
  reader->OnEnd(end, {3'000'000});
  v1::RequestTiming timing;
  reader->Fill(&timing);
  return timing;
}

v1::RequestTiming Read(const Answer& answer, const Asked& asked = Asked()) {
  ResponseReader reader;
  return Read(answer, asked, &reader);
}

Answer Body(std::string body, Kind end = Kind::kOk) {
  Answer answer;
  answer.body = std::move(body);
  answer.end = end;
  if (end != Kind::kOk) answer.message = "it broke";
  return answer;
}

TEST(ResponseReaderTest, TheStreamsOwnEndDecides) {
  struct Row {
    std::string body;
    Kind end;
    v1::Outcome outcome;
  };
  const std::string finished = absl::StrCat(kToken, kLast);
  const std::string with_usage = absl::StrCat(finished, kUsage);
  const std::string done = absl::StrCat(with_usage, kDone);
  const Row rows[] = {
      {done, Kind::kOk, v1::COMPLETED},
      {done, Kind::kReset, v1::COMPLETED},
      {done, Kind::kPartial, v1::COMPLETED},
      {done, Kind::kTimeout, v1::COMPLETED},
      {done, Kind::kCancelled, v1::COMPLETED},
      {with_usage, Kind::kOk, v1::COMPLETED},
      {with_usage, Kind::kReset, v1::COMPLETED},
      {with_usage, Kind::kPartial, v1::COMPLETED},
      {finished, Kind::kOk, v1::COMPLETED},
      {finished, Kind::kReset, v1::RESET},
      {finished, Kind::kPartial, v1::RESET},
      {finished, Kind::kTimeout, v1::TIMEOUT},
      {finished, Kind::kCancelled, v1::CANCELLED},
      {std::string(kToken), Kind::kOk, v1::TRUNCATED},
      {std::string(kToken), Kind::kPartial, v1::TRUNCATED},
      {std::string(kToken), Kind::kReset, v1::RESET},
      {std::string(kToken), Kind::kTimeout, v1::TIMEOUT},
      {std::string(kToken), Kind::kCancelled, v1::CANCELLED},
      {std::string(kToken), Kind::kOther, v1::MALFORMED},
      {std::string(kDone), Kind::kOk, v1::EMPTY},
      {"", Kind::kOk, v1::EMPTY},
      {": ping\n\n", Kind::kOk, v1::EMPTY},
      {"", Kind::kPartial, v1::TRUNCATED},
      {"", Kind::kReset, v1::RESET},
      {absl::StrCat(finished, "data: {\"choices\":[],\"us"), Kind::kOk,
       v1::TRUNCATED},
      {absl::StrCat(with_usage, "data: [DO"), Kind::kOk, v1::COMPLETED},
  };
  for (const Row& row : rows) {
    const v1::RequestTiming timing = Read(Body(row.body, row.end));
    EXPECT_EQ(timing.outcome(), row.outcome)
        << row.body << "\n"
        << static_cast<int>(row.end) << timing.error();
    EXPECT_EQ(timing.error().empty(), row.outcome == v1::COMPLETED);
  }
}

TEST(ResponseReaderTest, TheLastEventMayLackItsBlankLine) {
  for (absl::string_view rest :
       {"data: [DONE]", "data: [DONE]\n", "data: [DONE]\r"}) {
    const v1::RequestTiming timing = Read(Body(absl::StrCat(kToken, rest)));
    EXPECT_EQ(timing.outcome(), v1::COMPLETED) << rest;
    EXPECT_EQ(timing.done_ns(), 2'000'000);
  }
  const v1::RequestTiming timing = Read(
      Body(absl::StrCat(kToken, absl::StripTrailingAsciiWhitespace(kLast))));
  EXPECT_EQ(timing.outcome(), v1::COMPLETED);
  EXPECT_EQ(timing.token_delta_ns_size(), 2);
  EXPECT_EQ(timing.coalesced(), 1u);
  EXPECT_EQ(timing.done_ns(), 3'000'000);
}

TEST(ResponseReaderTest, NothingAfterDoneCounts) {
  const v1::RequestTiming timing = Read(Body(
      absl::StrCat(kToken, kLast, kUsage, kDone, kDone, kToken,
                   "data: {broken\n\ndata: {\"error\":\"x\"}\n\ngarbage")));
  EXPECT_EQ(timing.outcome(), v1::COMPLETED);
  EXPECT_EQ(timing.output_tokens(), 2u);
  EXPECT_EQ(timing.token_delta_ns_size(), 2);
}

TEST(ResponseReaderTest, ErrorsInTheStreamFailItEvenAfterTheFinish) {
  for (absl::string_view error :
       {"data: {\"error\":{\"message\":\"boom\"}}\n\n",
        "data: {\"error\":\"boom\"}\n\n", "error: boom\n\n",
        "event: error\ndata: boom\n\n", "data: {\"detail\":\"boom\"}\n\n",
        "event: error\ndata: boom",
        "data: {\"choices\":[{\"finish_reason\":\"error\"}],"
        "\"error\":{\"m\":\"boom\"}}\n\n"}) {
    const v1::RequestTiming timing =
        Read(Body(absl::StrCat(kToken, kLast, kUsage, error)));
    EXPECT_EQ(timing.outcome(), v1::STREAM_ERROR) << error;
    EXPECT_THAT(timing.error(), HasSubstr("boom"));
  }
}

TEST(ResponseReaderTest, BrokenEventsAreMalformedAndNamedOnesIgnored) {
  for (absl::string_view bad :
       {"data: {\"choices\":\n\n", "data: hello\n\n", "data: []\n\n",
        "event: message\ndata: x\n\n"}) {
    EXPECT_EQ(Read(Body(absl::StrCat(kToken, bad, kLast, kDone))).outcome(),
              v1::MALFORMED)
        << bad;
  }
  EXPECT_EQ(Read(Body(absl::StrCat(kToken, "event: ping\ndata: 12:00\n\n",
                                   kLast, kUsage, kDone)))
                .outcome(),
            v1::COMPLETED);
}

TEST(ResponseReaderTest, AnEventOverTheLimitIsMalformed) {
  const v1::RequestTiming timing = Read(Body(absl::StrCat(
      kToken, "data: ", std::string(SseParser::kMaxEventBytes + 1, 'x'))));
  EXPECT_EQ(timing.outcome(), v1::MALFORMED);
  EXPECT_THAT(timing.error(), HasSubstr("8388608 bytes"));
}

TEST(ResponseReaderTest, WhatIsNoEventStreamIsNamed) {
  Answer answer = Body("<html>\n<p>data</p>\n");
  answer.content_type = "text/html";
  EXPECT_THAT(Read(answer).error(), HasSubstr("text/html: <html> <p>data"));
  answer = Body("{\n  \"choices\": []\n}\n");
  answer.content_type = "";
  EXPECT_EQ(Read(answer).outcome(), v1::MALFORMED);
  answer = Body("binary");
  answer.content_encoding = "br";
  EXPECT_THAT(Read(answer).error(), HasSubstr("content encoding br"));
  answer = Body(absl::StrCat(kToken, kLast, kUsage, kDone));
  for (const char* encoding : {"identity", "none", "utf-8"}) {
    answer.content_encoding = encoding;
    EXPECT_EQ(Read(answer).outcome(), v1::COMPLETED);
  }
  answer = Body("plain\n: text\n");
  answer.content_encoding = "odd";
  answer.content_type = "text/plain";
  EXPECT_THAT(Read(answer).error(),
              HasSubstr("text/plain, content encoding odd"));
}

TEST(ResponseReaderTest, OtherStatusesKeepTheStartOfTheBody) {
  Answer answer;
  answer.status = 503;
  answer.content_type = "application/json";
  answer.body = absl::StrCat("{\"error\":\"busy\xE6\"}", std::string(900, 'x'));
  answer.end = Kind::kPartial;
  const v1::RequestTiming timing = Read(answer);
  EXPECT_EQ(timing.outcome(), v1::HTTP_STATUS);
  EXPECT_EQ(timing.http_status(), 503u);
  EXPECT_THAT(timing.error(),
              HasSubstr("HTTP 503 (application/json): {\"error\":\"busy"));
  EXPECT_LT(timing.error().size(), 300u);
  EXPECT_EQ(timing.response_bytes(), answer.body.size());
  answer.status = 302;
  answer.body = "";
  EXPECT_THAT(Read(answer).error(), HasSubstr("HTTP 302"));
}

TEST(ResponseReaderTest, TheTransportsEndIsTheOutcomeWithoutAnAnswer) {
  const std::pair<Kind, v1::Outcome> rows[] = {
      {Kind::kConnect, v1::CONNECT}, {Kind::kTls, v1::TLS},
      {Kind::kTimeout, v1::TIMEOUT}, {Kind::kReset, v1::RESET},
      {Kind::kPartial, v1::RESET},   {Kind::kCancelled, v1::CANCELLED},
      {Kind::kOther, v1::MALFORMED}, {Kind::kOk, v1::RESET}};
  for (const auto& [kind, outcome] : rows) {
    Answer answer;
    answer.status = 0;
    answer.end = kind;
    answer.message = "why";
    const v1::RequestTiming timing = Read(answer);
    EXPECT_EQ(timing.outcome(), outcome);
    EXPECT_EQ(timing.error(), "why");
    EXPECT_EQ(timing.done_ns(), 0);
    EXPECT_EQ(timing.end_ns(), 3'000'000);
  }
}

TEST(ResponseReaderTest, AKeyInAnAnswerIsNeverKept) {
  const std::string key = "sk-test-000000000000000042";
  Asked asked;
  asked.key = key;
  for (size_t before = 0; before < 260; ++before) {
    const std::string text =
        absl::StrCat(std::string(before, 'x'), " Incorrect key: ", key);
    Answer refused;
    refused.status = 401;
    refused.body = text;
    Answer in_stream = Body(
        absl::StrCat(kToken, "data: {\"error\":\"", text, "\"}\n\n", kDone));
    Answer html = Body(absl::StrCat("<p>", text));
    for (const Answer& answer : {refused, in_stream, html}) {
      const v1::RequestTiming timing = Read(answer, asked);
      EXPECT_FALSE(absl::StrContains(timing.error(), "sk-t")) << before;
      EXPECT_NE(timing.outcome(), v1::COMPLETED);
    }
    if (before == 0) {
      EXPECT_THAT(Read(refused, asked).error(),
                  HasSubstr("Incorrect key: [key]"));
    }
  }
}

TEST(ResponseReaderTest, WrongLengthsAreFlagged) {
  Asked asked;
  asked.output_tokens = 3;
  asked.input_tokens = 5;
  Answer answer = Body(absl::StrCat(kToken, kLast, kUsage, kDone));
  EXPECT_THAT(Read(answer, asked).flags(),
              testing::ElementsAre(v1::WRONG_LENGTH, v1::WRONG_INPUT_LENGTH,
                                   v1::NEW_CONNECTION));
  asked.output_tokens = 2;
  asked.input_tokens = 4;
  answer.new_connection = false;
  EXPECT_THAT(Read(answer, asked).flags(), testing::IsEmpty());
}

TEST(ResponseReaderTest, OnlyADeadKeptAliveConnectionIsFlaggedSo) {
  Answer answer;
  answer.status = 0;
  answer.end = Kind::kReset;
  EXPECT_THAT(Read(answer).flags(), testing::ElementsAre(v1::NEW_CONNECTION));
  answer.new_connection = false;
  EXPECT_THAT(Read(answer).flags(),
              testing::ElementsAre(v1::REUSED_DEAD_CONNECTION));
  answer.status = 200;
  EXPECT_THAT(Read(answer).flags(), testing::IsEmpty());
}

TEST(ResponseReaderTest, AnEndChunkBeforeMoreOutputIsNoToken) {
  const std::string end_chunk =
      "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n";
  const std::string usage =
      "data: {\"choices\":[],\"usage\":{\"completion_tokens\":2}}\n\n";
  EXPECT_EQ(Read(Body(absl::StrCat(kToken, end_chunk, usage, kDone)))
                .token_delta_ns_size(),
            2);
  EXPECT_EQ(Read(Body(absl::StrCat(kToken, end_chunk, kLast, usage, kDone)))
                .token_delta_ns_size(),
            2);
  // llama.cpp: usage in the end chunk itself, which is no token.
  const std::string with_usage =
      "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}],"
      "\"usage\":{\"completion_tokens\":1}}\n\n";
  EXPECT_EQ(
      Read(Body(absl::StrCat(kToken, with_usage, kDone))).token_delta_ns_size(),
      1);
  // The only token prints nothing.
  const v1::RequestTiming one = Read(Body(absl::StrCat(with_usage, kDone)));
  EXPECT_EQ(one.outcome(), v1::COMPLETED);
  EXPECT_EQ(one.token_delta_ns_size(), 1);
}

TEST(ResponseReaderTest, TokensOfChunksAreKeptOnlyIfAllTellThem) {
  const auto chunk = [](absl::string_view usage) {
    return absl::StrCat("data: {\"choices\":[{\"text\":\"a\"}]", usage,
                        "}\n\n");
  };
  const std::string one = chunk(",\"usage\":{\"completion_tokens\":1}");
  const std::string four = chunk(",\"usage\":{\"completion_tokens\":4}");
  EXPECT_THAT(Read(Body(absl::StrCat(one, four, kDone))).chunk_tokens(),
              testing::ElementsAre(1, 3));
  EXPECT_THAT(Read(Body(absl::StrCat(chunk(""), four, kDone))).chunk_tokens(),
              testing::IsEmpty());
  EXPECT_THAT(Read(Body(absl::StrCat(four, one, kDone))).chunk_tokens(),
              testing::IsEmpty());
}

TEST(ResponseReaderTest, AReusedReaderRemembersNothing) {
  ResponseReader reader;
  Answer failed = Body("data: {broken\n\n");
  failed.content_encoding = "gzip";
  Read(failed, Asked(), &reader);
  EXPECT_EQ(reader.outcome(), v1::MALFORMED);
  Asked asked;
  asked.output_tokens = 2;
  const Answer good = Body(absl::StrCat(kToken, kLast, kUsage, kDone));
  const std::string again = Read(good, asked, &reader).DebugString();
  EXPECT_EQ(again, Read(good, asked).DebugString());
}

TEST(ResponseReaderTest, StreamOverIsKnownBeforeTheBodyEnds) {
  for (absl::string_view last : {kDone, absl::string_view("error: x\n\n")}) {
    ResponseReader reader;
    reader.OnHead(200, "text/event-stream", "");
    reader.OnBytes(kToken, {5}, 1);
    EXPECT_FALSE(reader.stream_over());
    reader.OnBytes(last, {6}, 2);
    EXPECT_TRUE(reader.stream_over());
    EXPECT_FALSE(reader.done());
    TransportEnd cut;
    cut.kind = Kind::kCancelled;
    reader.OnEnd(cut, {7});
    EXPECT_EQ(reader.outcome(),
              last == kDone ? v1::COMPLETED : v1::STREAM_ERROR);
  }
}

}  // namespace
}  // namespace benchfleet
