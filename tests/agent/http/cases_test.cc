// Plays every case of tests/cases straight into a ResponseReader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "tests/support/case_file.h"

namespace benchfleet {
namespace {

constexpr Instant kSent{5'000'000'000};

Instant At(double ms) { return kSent + absl::Milliseconds(ms); }

const std::vector<Case>& Cases() {
  static const auto* cases = new std::vector<Case>(
      LoadCases(absl::StrCat(TESTS_SOURCE_DIR, "/cases")));
  return *cases;
}

v1::RequestTiming Finish(const CasePlay& play, ResponseReader& reader) {
  TransportEnd end;
  end.kind = play.EndKind();
  end.new_connection = true;
  double at = play.sends.empty() ? 0 : play.sends.back().at_ms;
  if (play.end != "keep") at += play.end_after_ms;
  reader.OnEnd(end, At(at));
  v1::RequestTiming timing;
  reader.Fill(&timing);
  return timing;
}

v1::RequestTiming Play(const Case& c, const CasePlay& play,
                       const Asked& asked) {
  ResponseReader reader(asked);
  reader.set_sent(kSent);
  if (play.status != 0) {
    reader.OnHead(play.status, play.content_type, play.content_encoding);
  }
  uint64_t turn = 0;
  for (const CasePlay::Send& send : play.sends) {
    reader.OnBytes(send.bytes, At(send.at_ms), ++turn);
  }
  EXPECT_FALSE(reader.done()) << c.id;
  return Finish(play, reader);
}

v1::RequestTiming PlayPieces(const Case& c, const CasePlay& play,
                             const std::vector<std::string>& pieces) {
  ResponseReader reader(c.asked());
  reader.set_sent(kSent);
  reader.OnHead(play.status, play.content_type, play.content_encoding);
  uint64_t turn = 0;
  for (const std::string& piece : pieces) {
    reader.OnBytes(piece, At(1), ++turn);
  }
  return Finish(play, reader);
}

double Ms(int64_t ns) { return static_cast<double>(ns - kSent.ns) / 1e6; }

void ExpectTimes(const Case& c, const v1::RequestTiming& timing) {
  const CaseExpectation& expect = c.expect;
  const std::vector<double> arrivals = ArrivalsMs(timing);
  ASSERT_EQ(arrivals.size(), expect.itl_ms.size() + 1) << c.id;
  EXPECT_EQ(arrivals.front(), expect.ttft_ms) << c.id;
  EXPECT_EQ(arrivals.back(), expect.e2el_ms) << c.id;
  for (size_t i = 0; i < expect.itl_ms.size(); ++i) {
    EXPECT_NEAR(arrivals[i + 1] - arrivals[i], expect.itl_ms[i], 1e-6) << c.id;
  }
  if (expect.tpot_ms) {
    EXPECT_NEAR(*TpotMs(timing), *expect.tpot_ms, 1e-3) << c.id;
  }
  EXPECT_EQ(Ms(timing.first_choice_ns()), expect.first_choice_ms) << c.id;
  if (expect.done_ms) {
    EXPECT_EQ(Ms(timing.done_ns()), *expect.done_ms) << c.id;
  } else {
    EXPECT_EQ(timing.done_ns(), 0) << c.id;
  }
}

TEST(CasesTest, AllAreRead) { EXPECT_EQ(Cases().size(), 46u); }

TEST(CasesTest, EverySingleRequestIsJudgedAsExpected) {
  for (const Case& c : Cases()) {
    if (!c.is_single()) continue;
    const v1::RequestTiming timing = Play(c, c.plays[0], c.asked());
    EXPECT_EQ(FactsDiffer(c.expect, timing), "") << c.id;
    if (c.expect.outcome == "completed") ExpectTimes(c, timing);
  }
}

TEST(CasesTest, EveryPlayOfTheOthersIsJudgedAsExpected) {
  for (const Case& c : Cases()) {
    if (c.is_single()) continue;
    const v1::RequestTiming first = Play(c, c.plays[0], c.asked());
    EXPECT_EQ(FactsDiffer(c.expect, first), "") << c.id;
    ExpectTimes(c, first);
    const v1::RequestTiming second = Play(c, c.plays[1], c.asked());
    EXPECT_EQ(second.outcome(),
              c.plays[1].status == 0 ? v1::RESET : v1::HTTP_STATUS);
  }
}

TEST(CasesTest, WithoutUsageAskedAFinishIsEnough) {
  for (const Case& c : Cases()) {
    if (c.expect.outcome_if_usage_not_asked.empty()) continue;
    Asked asked = c.asked();
    asked.include_usage = false;
    const v1::RequestTiming timing = Play(c, c.plays[0], asked);
    EXPECT_EQ(timing.outcome(), v1::COMPLETED) << c.id;
  }
}

// All but times and the count of reads.
std::string Structure(v1::RequestTiming timing) {
  for (uint64_t& delta : *timing.mutable_token_delta_ns()) delta = 0;
  timing.clear_coalesced();
  return timing.DebugString();
}

TEST(CasesTest, AnyCutOfTheBytesGivesTheSame) {
  for (const Case& c : Cases()) {
    const CasePlay& play = c.plays[0];
    std::string all;
    for (const CasePlay::Send& send : play.sends) all += send.bytes;
    const std::string whole = Structure(PlayPieces(c, play, {all}));
    std::vector<std::string> bytes;
    for (char byte : all) bytes.emplace_back(1, byte);
    EXPECT_EQ(Structure(PlayPieces(c, play, bytes)), whole) << c.id;
    for (size_t cut = 1; cut < all.size(); ++cut) {
      ASSERT_EQ(
          Structure(PlayPieces(c, play, {all.substr(0, cut), all.substr(cut)})),
          whole)
          << c.id << " cut at " << cut;
    }
  }
}

// Spoils some bytes, so that all the ways to fail are met too.
TEST(CasesTest, SpoiltBytesCutAnywhereGiveTheSame) {
  std::mt19937 random(11);
  const auto below = [&](size_t n) { return random() % n; };
  const std::string bytes = "\r\n:{}[]\",\\ad\xE6 0";
  for (const Case& c : Cases()) {
    const CasePlay& play = c.plays[0];
    std::string all;
    for (const CasePlay::Send& send : play.sends) all += send.bytes;
    for (int round = 0; round < 300 && !all.empty(); ++round) {
      std::string spoilt = all.substr(0, 1 + below(all.size()));
      for (size_t i = below(4); i > 0; --i) {
        spoilt[below(spoilt.size())] = bytes[below(bytes.size())];
      }
      std::vector<std::string> pieces;
      for (size_t at = 0; at < spoilt.size(); at += pieces.back().size()) {
        pieces.push_back(spoilt.substr(at, 1 + below(40)));
      }
      ASSERT_EQ(Structure(PlayPieces(c, play, pieces)),
                Structure(PlayPieces(c, play, {spoilt})))
          << c.id << ": " << spoilt;
    }
  }
}

}  // namespace
}  // namespace benchfleet
