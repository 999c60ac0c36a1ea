#include "coordinator/report/scope.h"

#include <gtest/gtest.h>

namespace benchfleet {
namespace {

TEST(ScopeTest, StatisticsSayTheNumberOfRoundsInWords) {
  EXPECT_EQ(StatisticsText(3),
            "Each metric: median and range across three rounds. Round "
            "percentiles are not pooled percentiles.");
  EXPECT_EQ(StatisticsText(1).substr(0, 50),
            "Each metric: median and range across one round. Ro");
  EXPECT_EQ(StatisticsText(13).substr(37, 10), "13 rounds.");
}

TEST(ScopeTest, SaysWhatTheRequestsTake) {
  const std::string rest =
      "; excludes warmup, functional tests, multimodal tests and failed "
      "attempts.";
  struct Row {
    const char* suite;
    const char* scope;
  };
  const Row rows[] = {
      {"engines { kind: OPENAI } cases { }",
       "Fixed-length synthetic text via completions"},
      {"engines { kind: VLLM } cases { prompt_format: TEXT }",
       "Fixed-length synthetic text via completions"},
      {"engines { kind: VLLM } cases { }",
       "Fixed-length synthetic token ids via completions"},
      {"engines { kind: VLLM } cases { endpoint: CHAT }",
       "Fixed-length synthetic text via chat"},
      {"engines { kind: VLLM } cases { } cases { endpoint: CHAT }",
       "Fixed-length synthetic text and token ids via completions and chat"},
      {"this is { no suite", "Fixed-length synthetic prompts"},
      {"", "Fixed-length synthetic prompts"},
  };
  for (const Row& row : rows) EXPECT_EQ(ScopeText(row.suite), row.scope + rest);
}

}  // namespace
}  // namespace benchfleet
