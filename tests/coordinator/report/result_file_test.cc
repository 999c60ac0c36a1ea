#include "coordinator/report/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/report/import.h"
#include "coordinator/report/report.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/measured_run.h"

namespace benchfleet {
namespace {

using testing::HasSubstr;

// A report of our own: measured, written, read again.
std::string OwnReport() {
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  const int64_t run = MeasureSampleRun(*store);
  return RenderReport(*store, run, v1::REPORT_JSON).value();
}

std::string ProblemsOf(const std::string& text) {
  const auto run = ParseResultFile(text);
  if (run.ok()) return "none";
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(run.status().message());
}

TEST(ResultFileTest, OwnReportsAreReadWithoutTheirExtras) {
  const std::string report = OwnReport();
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  const auto id = ImportResultFile(*store, report, absl::UnixEpoch());
  ASSERT_TRUE(id.ok()) << id.status();
  const std::string again = RenderReport(*store, *id, v1::REPORT_JSON).value();
  const size_t extras = report.find(",\n  \"benchfleet\"");
  ASSERT_NE(extras, std::string::npos);
  EXPECT_EQ(again, report.substr(0, extras) + "\n}");
}

TEST(ResultFileTest, EachProblemIsNamedWithItsPlace) {
  const std::string good = OwnReport();
  ASSERT_EQ(ProblemsOf(good), "none");
  struct Row {
    const char* from;
    const char* to;
    const char* problem;
  };
  const Row rows[] = {
      {"\"model\": \"m\"", "\"model\": 7",
       "model: expected a string, found a number"},
      {"  \"model\": \"m\",\n", "", "model: is missing"},
      {"\"status\": \"FAIL\"", "\"status\": \"GOOD\"",
       "status: expected PASS or FAIL, found GOOD"},
      {"\"model\": \"m\"", "\"model\": \"m\", \"extra\": 1",
       "extra: is no key of this format"},
      {"\"model\": \"m\"", "\"model\": \"m\", \"model\": \"n\"",
       "model: stands there twice"},
      {"\"context_window\": 32768", "\"context_window\": 99999999999",
       "context_window: 99999999999 is too large"},
      {"\"context_window\": 32768", "\"context_window\": -1",
       "context_window: expected a whole number from 0"},
      {"\"context_window\": 32768", "\"context_window\": 1.5",
       "context_window: expected a whole number from 0"},
      {"\"mean_ttft_ms\": 100.0", "\"mean_ttft_ms\": \"fast\"",
       "rows[0].mean_ttft_ms: expected a number or null, found a string"},
      {"\"mean_ttft_ms\": 100.0", "\"mean_ttft_ms\": NaN",
       "NaN is no figure; an absent one is null"},
      {"\"mean_ttft_ms\": 100.0", "\"mean_ttft_ms\": -Infinity",
       "Infinity is no figure"},
      {"\"mean_ttft_ms\": 100.0", "\"mean_ttft_ms\": -0.0",
       "rows[0].mean_ttft_ms: expected a figure from 0"},
      {"\"mean_ttft_ms\": 100.0", "\"mean_ttft_ms\": null", "none"},
      {"\"completed\": 2", "\"completed\": 4294967296",
       "rows[0].completed: 4294967296 is too large"},
      {"\"counted_rounds\": 4", "\"counted_rounds\": 5",
       "counted_rounds: the file says 5, its rows give 4"},
      {"\"counted_requests\": 7", "\"counted_requests\": 8",
       "counted_requests: the file says 8, its rows give 7"},
      {"\"median\": 100.0", "\"median\": 100.5",
       "aggregates[0] (vllm short-c2).metrics.mean_ttft_ms.median: the file "
       "says 100.5, its rows give 100.0"},
      {"\"rounds\": 2", "\"rounds\": 3", "the file says 3, its rows give 2"},
      {"\"repeat\": 2", "\"repeat\": 1", "stands there twice"},
      {"{\n  \"status\"", "[\n  \"status\"", "is no valid JSON"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.to);
    std::string bad = good;
    const size_t at = bad.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    bad.replace(at, std::string(row.from).size(), row.to);
    EXPECT_THAT(ProblemsOf(bad), HasSubstr(row.problem));
  }
}

TEST(ResultFileTest, OtherJsonAndOtherTextAreRefused) {
  EXPECT_THAT(ProblemsOf(""), HasSubstr("no valid JSON"));
  EXPECT_THAT(ProblemsOf("\xff\xfe"), HasSubstr("no valid JSON"));
  EXPECT_THAT(ProblemsOf("[]"),
              HasSubstr("expected an object, found an array"));
  EXPECT_THAT(ProblemsOf("{}"), HasSubstr("rows: is missing"));
  EXPECT_THAT(ProblemsOf("{\"rows\": [1]}"),
              HasSubstr("rows[0]: expected an object, found a number"));
}

TEST(ResultFileTest, ManyProblemsAreBounded) {
  std::string rows = "1";
  for (int i = 0; i < 1000; ++i) rows += ",1";
  const std::string problems = ProblemsOf("{\"rows\": [" + rows + "]}");
  EXPECT_THAT(problems, HasSubstr("more problems"));
  EXPECT_LT(problems.size(), 5000u);
}

TEST(ResultFileTest, RefusedFileLeavesNoRun) {
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  EXPECT_FALSE(ImportResultFile(*store, "{}", absl::UnixEpoch()).ok());
  EXPECT_TRUE(store->Runs()->empty());
}

}  // namespace
}  // namespace benchfleet
