#include "coordinator/report/raw_artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "absl/strings/str_split.h"
#include "common/sha256.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/measured_run.h"

namespace benchfleet {
namespace {

RawArtifactHead Head() {
  return {1, "sample", "vllm", SampleRun().cases[0], 2, 5, UINT64_MAX};
}

TEST(RawArtifactTest, OrderOfTheInputDoesNotShow) {
  auto shares = SampleShares();
  std::vector<StoredTiming> timings = {{"a", SampleTiming(0, 1, 2)},
                                       {"b", SampleTiming(1, 1, 2)}};
  const std::string text = RawArtifact(Head(), shares, timings);
  std::swap(shares[0], shares[1]);
  std::swap(timings[0], timings[1]);
  EXPECT_EQ(RawArtifact(Head(), shares, timings), text);
}

TEST(RawArtifactTest, EveryFactChangesIt) {
  const std::string text =
      RawArtifact(Head(), SampleShares(), {{"a", SampleTiming(0, 1, 2)}});
  StoredTiming other = {"a", SampleTiming(0, 1, 2)};
  other.timing.set_token_delta_ns(2, 7);
  EXPECT_NE(RawArtifact(Head(), SampleShares(), {other}), text);
  auto shares = SampleShares();
  shares[1].clock_offset_ns += 1;
  EXPECT_NE(RawArtifact(Head(), shares, {{"a", SampleTiming(0, 1, 2)}}), text);
}

TEST(RawArtifactTest, LinesAreJson) {
  StoredTiming bad = {"a", SampleTiming(0, 1, 2)};
  bad.timing.set_error("\xff \"x\"\n");
  bad.timing.clear_usage_prompt_tokens();
  bad.timing.add_flags(v1::NEW_CONNECTION);
  const std::string text = RawArtifact(Head(), SampleShares(), {bad});
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2], "");
  simdjson::dom::parser parser;
  for (int i = 0; i < 2; ++i) {
    simdjson::dom::element ignored;
    EXPECT_EQ(parser.parse(lines[static_cast<size_t>(i)]).get(ignored),
              simdjson::SUCCESS);
  }
  EXPECT_THAT(lines[1], testing::HasSubstr("\"flags\":[\"NEW_CONNECTION\"]"));
  EXPECT_THAT(lines[1], testing::HasSubstr(
                            "\"token_delta_ns\":[100000000,2000000,2000000]"));
}

TEST(RawArtifactTest, ItsHashStandsInTheRow) {
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  const int64_t run = MeasureSampleRun(*store);
  const std::string text =
      FindRawArtifact(*store, run, "llama", "short-c2", 2).value();
  const auto rounds = store->Rounds(run).value();
  EXPECT_EQ(store->Result(rounds[3].id)->value().source_sha256,
            Sha256Hex(text));
  EXPECT_NE(store->Result(rounds[2].id)->value().source_sha256,
            Sha256Hex(text));
}

TEST(RawArtifactTest, MissingRoundsAreNamed) {
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  const int64_t run = store->CreateRun(SampleRun()).value();
  const auto message = [&](const char* engine, const char* case_id) {
    return std::string(
        FindRawArtifact(*store, run, engine, case_id, 1).status().message());
  };
  EXPECT_EQ(message("x", "short-c2"),
            "there is no engine x; there are vllm, llama");
  EXPECT_EQ(message("vllm", "y"), "there is no case y; there are short-c2");
  EXPECT_THAT(message("vllm", "short-c2"),
              testing::HasSubstr("has no VALID repeat 1"));
}

}  // namespace
}  // namespace benchfleet
