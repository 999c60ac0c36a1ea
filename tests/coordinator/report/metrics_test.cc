#include "coordinator/report/metrics.h"

#include <gtest/gtest.h>

#include "common/sha256.h"
#include "tests/coordinator/sample_run.h"

namespace benchfleet {
namespace {

double Metric(const RoundResult& result, absl::string_view name) {
  for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
    if (kRoundMetricNames[i] == name) return result.metrics[i].value();
  }
  return -1;
}

// Agent b's clock is 100 s behind: its -99,000 ms are the coordinator's 1,000.
std::vector<StoredTiming> TwoRequests() {
  return {{"a", SampleTiming(0, 1000, 10)},
          {"b", SampleTiming(1, -98'990, 20)}};
}

TEST(MetricsTest, FiguresOfTwoAgentsAreThoseByHand) {
  const RoundResult result =
      ComputeRoundResult(SampleRun().cases[0], SampleShares(), TwoRequests());
  EXPECT_EQ(result.completed, 2);
  EXPECT_EQ(result.failed, 0);
  EXPECT_EQ(result.total_input_tokens, 16);
  EXPECT_EQ(result.total_output_tokens, 6);
  // First send at 1,000 ms; b: sent at 1,010, done 141 ms later.
  EXPECT_EQ(Metric(result, "duration"), 0.151);
  EXPECT_EQ(Metric(result, "request_throughput"), 2 / 0.151);
  EXPECT_EQ(Metric(result, "output_throughput"), 6 / 0.151);
  EXPECT_EQ(Metric(result, "total_token_throughput"), 22 / 0.151);
  EXPECT_EQ(Metric(result, "mean_ttft_ms"), 100);
  EXPECT_EQ(Metric(result, "mean_itl_ms"), 15);
  EXPECT_EQ(Metric(result, "p50_itl_ms"), 15);
  EXPECT_EQ(Metric(result, "p99_itl_ms"), 20);
  EXPECT_EQ(Metric(result, "mean_tpot_ms"), 15);
  EXPECT_EQ(Metric(result, "mean_e2el_ms"), 130);
  EXPECT_DOUBLE_EQ(Metric(result, "p95_e2el_ms"), 139);
  EXPECT_DOUBLE_EQ(*result.concurrency_utilisation, 0.260 / (2 * 0.151));
  EXPECT_EQ(result.duration_bound_s, 50e-6);
  EXPECT_EQ(result.tokens_per_chunk, 1);
  EXPECT_EQ(result.agents, 2u);
}

TEST(MetricsTest, OneAgentHasNoErrorOfItsDuration) {
  auto shares = SampleShares();
  shares.erase(shares.begin());
  const RoundResult result = ComputeRoundResult(
      SampleRun().cases[0], shares, {{"b", SampleTiming(0, 5, 10)}});
  EXPECT_EQ(Metric(result, "duration"), 0.121);
  EXPECT_EQ(result.duration_bound_s, 0);
}

TEST(MetricsTest, FailedRequestsHaveNoFiguresButLastAsLongAsTheyDid) {
  auto timings = TwoRequests();
  timings[1].timing.set_outcome(v1::STREAM_ERROR);
  const RoundResult result =
      ComputeRoundResult(SampleRun().cases[0], SampleShares(), timings);
  EXPECT_EQ(result.completed, 1);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.total_output_tokens, 3);
  EXPECT_EQ(Metric(result, "duration"), 0.151);
  EXPECT_EQ(Metric(result, "mean_e2el_ms"), 120);
}

TEST(MetricsTest, AllFailedGivesZeroRatesAndNoLatencies) {
  auto timings = TwoRequests();
  for (StoredTiming& stored : timings) {
    stored.timing.set_outcome(v1::HTTP_STATUS);
    stored.timing.clear_token_delta_ns();
  }
  const RoundResult result =
      ComputeRoundResult(SampleRun().cases[0], SampleShares(), timings);
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(Metric(result, "request_throughput"), 0);
  EXPECT_EQ(Metric(result, "total_token_throughput"), 0);
  for (size_t i = 4; i < result.metrics.size(); ++i) {
    EXPECT_EQ(result.metrics[i], std::nullopt) << kRoundMetricNames[i];
  }
  EXPECT_EQ(result.tokens_per_chunk, std::nullopt);
}

TEST(MetricsTest, TpotNeedsTwoTokensAndTwoChunks) {
  StoredTiming one_token = {"a", SampleTiming(0, 1, 10)};
  one_token.timing.set_output_tokens(1);
  StoredTiming one_chunk = {"a", SampleTiming(1, 1, 10)};
  one_chunk.timing.clear_token_delta_ns();
  one_chunk.timing.add_token_delta_ns(5'000'000);
  const RoundResult result = ComputeRoundResult(
      SampleRun().cases[0], SampleShares(), {one_token, one_chunk});
  EXPECT_EQ(result.metrics[8], std::nullopt);
  EXPECT_EQ(Metric(result, "mean_ttft_ms"), 52.5);
}

TEST(MetricsTest, SeveralTokensAChunkChangeTpotNotItl) {
  StoredTiming timing = {"a", SampleTiming(0, 1, 10)};
  timing.timing.set_output_tokens(9);
  const RoundResult result =
      ComputeRoundResult(SampleRun().cases[0], SampleShares(), {timing});
  EXPECT_EQ(Metric(result, "mean_tpot_ms"), 2.5);
  EXPECT_EQ(Metric(result, "mean_itl_ms"), 10);
  EXPECT_EQ(result.tokens_per_chunk, 3);
}

TEST(MetricsTest, AskedInputStandsInOnlyWithoutUsage) {
  auto timings = TwoRequests();
  timings[0].timing.clear_usage_prompt_tokens();
  timings[1].timing.set_usage_prompt_tokens(11);
  EXPECT_EQ(ComputeRoundResult(SampleRun().cases[0], SampleShares(), timings)
                .total_input_tokens,
            8 + 11);
}

TEST(MetricsTest, DurationIsAbsentWhenAClockIsUnknownOrNothingWasSent) {
  const CaseRow row = SampleRun().cases[0];
  EXPECT_EQ(ComputeRoundResult(row, SampleShares(), {}).metrics[0],
            std::nullopt);
  EXPECT_EQ(ComputeRoundResult(row, SampleShares(),
                               {{"stranger", SampleTiming(0, 1, 1)}})
                .metrics[0],
            std::nullopt);
}

TEST(MetricsTest, AbsurdFiguresOfAnAgentDoNoHarm) {
  auto timings = TwoRequests();
  for (StoredTiming& stored : timings) {
    for (int i = 0; i < 3; ++i) {
      stored.timing.set_token_delta_ns(i, UINT64_MAX - 5);
    }
    stored.timing.set_output_tokens(UINT64_MAX / 2);
    stored.timing.set_usage_prompt_tokens(UINT64_MAX / 2);
    stored.timing.set_end_ns(INT64_MAX);
    stored.timing.set_sent_ns(INT64_MIN);
  }
  EXPECT_EQ(ComputeRoundResult(SampleRun().cases[0], SampleShares(), timings)
                .completed,
            2);
}

TEST(MetricsTest, FlagsAreCounted) {
  auto timings = TwoRequests();
  for (const auto flag : {v1::WRONG_LENGTH, v1::WRONG_INPUT_LENGTH,
                          v1::USAGE_INCONSISTENT, v1::NEW_CONNECTION}) {
    timings[0].timing.add_flags(flag);
  }
  timings[1].timing.add_flags(v1::NEW_CONNECTION);
  timings[1].timing.set_coalesced(3);
  const RoundResult result =
      ComputeRoundResult(SampleRun().cases[0], SampleShares(), timings);
  EXPECT_EQ(result.wrong_length, 1);
  EXPECT_EQ(result.wrong_input_length, 1);
  EXPECT_EQ(result.usage_inconsistent, 1);
  EXPECT_EQ(result.new_connections, 2);
  EXPECT_EQ(result.coalesced, 3);
}

TEST(MetricsTest, RequestSetDependsOnOrdinalsAndBodiesOnly) {
  auto timings = TwoRequests();
  const std::string hash = RequestSetSha256(timings);
  EXPECT_EQ(hash, Sha256Hex("0 feed000000000000\n1 feed000000000001\n"));
  std::swap(timings[0], timings[1]);
  timings[0].agent_id = "c";
  EXPECT_EQ(RequestSetSha256(timings), hash);
  timings[0].timing.set_body_hash(7);
  EXPECT_NE(RequestSetSha256(timings), hash);
}

}  // namespace
}  // namespace benchfleet
