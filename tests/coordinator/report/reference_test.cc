// The reference file: its figures obey our definitions, and it comes through
// the database without a changed byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/report/aggregate.h"
#include "coordinator/report/import.h"
#include "coordinator/report/report.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/sample_run.h"

namespace benchfleet {
namespace {

const std::string& Reference() {
  static const std::string& text =
      *new std::string(ReadFile(TESTS_SOURCE_DIR "/testdata/reference.json"));
  return text;
}

double Metric(const RoundResult& result, absl::string_view name) {
  for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
    if (kRoundMetricNames[i] == name) return result.metrics[i].value();
  }
  return NAN;
}

class ReferenceTest : public testing::Test {
 protected:
  ReferenceTest() : store_(OpenRoundStore(dir_.File("r.db")).value()) {
    const auto id = ImportResultFile(*store_, Reference(), now_);
    EXPECT_TRUE(id.ok()) << id.status();
    run_id_ = id.value_or(0);
  }
  std::vector<CountedRound> Rows() {
    std::vector<CountedRound> rows;
    const auto rounds = store_->Rounds(run_id_).value();
    for (const RoundRow& round : rounds) {
      rows.push_back({round, store_->Result(round.id)->value()});
    }
    return rows;
  }

  TempDir dir_;
  std::unique_ptr<RoundStore> store_;
  const absl::Time now_ = absl::FromUnixSeconds(1780000000);
  int64_t run_id_ = 0;
};

TEST_F(ReferenceTest, ComesBackByteForByte) {
  const std::string json = RenderReport(*store_, 0, v1::REPORT_JSON).value();
  EXPECT_TRUE(json == Reference());
  store_.reset();  // and from the copied file alone
  std::filesystem::copy_file(dir_.File("r.db"), dir_.File("copy.db"));
  auto copy = OpenRoundStoreReadOnly(dir_.File("copy.db")).value();
  EXPECT_TRUE(RenderReport(*copy, run_id_, v1::REPORT_JSON).value() ==
              Reference());
}

TEST_F(ReferenceTest, SameFileAgainIsTheSameRun) {
  EXPECT_EQ(ImportResultFile(*store_, Reference(), now_).value(), run_id_);
  EXPECT_EQ(store_->Runs()->size(), 1u);
}

TEST_F(ReferenceTest, ThroughputsFollowFromCountsToTheLastBit) {
  const auto cases = store_->Cases(run_id_).value();
  int64_t completed = 0;
  const auto rows = Rows();
  EXPECT_EQ(rows.size(), 66u);
  for (const CountedRound& row : rows) {
    const RoundResult& r = row.result;
    const double duration = Metric(r, "duration");
    completed += r.completed;
    EXPECT_EQ(Metric(r, "request_throughput"),
              static_cast<double>(r.completed) / duration);
    EXPECT_EQ(Metric(r, "output_throughput"),
              static_cast<double>(r.total_output_tokens) / duration);
    EXPECT_EQ(
        Metric(r, "total_token_throughput"),
        static_cast<double>(r.total_input_tokens + r.total_output_tokens) /
            duration);
    const double tokens = cases[row.round.case_index].output_tokens;
    const double e2el =
        Metric(r, "mean_ttft_ms") + Metric(r, "mean_tpot_ms") * (tokens - 1);
    EXPECT_NEAR(Metric(r, "mean_e2el_ms"), e2el, 1e-15 * e2el * 2);
  }
  EXPECT_EQ(completed, 7908);
}

// ParseResultFile has compared all 22 x 20 aggregates of the file with
// aggregate.cc; here the view joins in.
TEST_F(ReferenceTest, AggregatesOfTheViewAreExactlyOurs) {
  const auto aggregates = AggregateRounds(Rows());
  ASSERT_EQ(aggregates.size(), 22u);
  const auto engines = store_->Engines(run_id_).value();
  const auto cases = store_->Cases(run_id_).value();
  auto db =
      Database::Open(dir_.File("r.db"), Database::Mode::kReadOnly).value();
  auto view = db->Prepare("SELECT * FROM case_aggregates").value();
  for (const CaseAggregate& aggregate : aggregates) {
    for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
      ASSERT_TRUE(view.Step().value());
      EXPECT_EQ(view.Int(0), run_id_);
      EXPECT_EQ(view.Text(1), engines[aggregate.engine].name);
      EXPECT_EQ(view.Text(2), cases[aggregate.case_index].id);
      EXPECT_EQ(view.Text(3), std::string(kRoundMetricNames[i]));
      EXPECT_EQ(view.OptionalReal(4), aggregate.metrics[i].median);
      EXPECT_EQ(view.OptionalReal(5), aggregate.metrics[i].min);
      EXPECT_EQ(view.OptionalReal(6), aggregate.metrics[i].max);
      EXPECT_EQ(view.Int(7), 3);
    }
  }
  EXPECT_FALSE(view.Step().value());
}

TEST_F(ReferenceTest, RowsOfTheViewHaveTheColumnsOfTheFile) {
  auto db =
      Database::Open(dir_.File("r.db"), Database::Mode::kReadOnly).value();
  auto columns =
      db->Prepare("SELECT name FROM pragma_table_info('round_metrics')")
          .value();
  std::vector<std::string> names;
  while (columns.Step().value()) names.push_back(columns.Text(0));
  std::vector<std::string> expected = {"run_id",       "engine",
                                       "case_id",      "repeat",
                                       "input_tokens", "output_tokens",
                                       "concurrency",  "completed",
                                       "failed",       "total_output_tokens",
                                       "source_sha256"};
  for (const auto name : kRoundMetricNames) expected.emplace_back(name);
  EXPECT_EQ(names, expected);
  const auto rows = Rows();
  auto view = db->Prepare("SELECT * FROM round_metrics").value();
  for (const CountedRound& row : rows) {
    ASSERT_TRUE(view.Step().value());
    EXPECT_EQ(view.Int(3), row.round.repeat);
    EXPECT_EQ(view.Text(10), row.result.source_sha256);
    for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
      EXPECT_EQ(view.OptionalReal(static_cast<int>(11 + i)),
                row.result.metrics[i]);
    }
  }
}

// Even counts and absent figures, which the reference does not have.
TEST(CaseAggregatesTest, ViewEqualsTheCodeForEvenCountsAndAbsentFigures) {
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  NewRun run = SampleRun();
  run.run.imported = true;
  run.results.resize(4);
  run.results[0].metrics[0] = 0.1;
  run.results[1].metrics[0] = 0.7;
  run.results[2].metrics[0] = 3;
  std::vector<CountedRound> rows;
  for (size_t i = 0; i < 4; ++i) {
    rows.push_back({run.rounds[i], run.results[i]});
  }
  ASSERT_TRUE(store->CreateRun(run).ok());
  auto db = Database::Open(dir.File("r.db"), Database::Mode::kReadOnly).value();
  auto view =
      db->Prepare("SELECT median, min, max, rounds FROM case_aggregates")
          .value();
  for (const CaseAggregate& aggregate : AggregateRounds(rows)) {
    for (const MetricAggregate& metric : aggregate.metrics) {
      ASSERT_TRUE(view.Step().value());
      EXPECT_EQ(view.OptionalReal(0), metric.median);
      EXPECT_EQ(view.OptionalReal(1), metric.min);
      EXPECT_EQ(view.OptionalReal(2), metric.max);
      EXPECT_EQ(view.Int(3), aggregate.rounds);
    }
  }
  EXPECT_FALSE(view.Step().value());
}

}  // namespace
}  // namespace benchfleet
