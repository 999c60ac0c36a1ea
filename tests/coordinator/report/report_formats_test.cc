#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <locale>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/build_info.h"
#include "coordinator/report/import.h"
#include "coordinator/report/report.h"
#include "coordinator/report/report_csv.h"
#include "coordinator/report/report_text.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/measured_run.h"

namespace benchfleet {
namespace {

using testing::HasSubstr;

// UPDATE_GOLDEN=1 writes the files anew.
void ExpectGolden(const std::string& report, const std::string& name) {
  const std::string text = absl::StrReplaceAll(
      report, {{absl::StrCat("\"version\": \"", kVersion, "\""),
                "\"version\": \"VERSION\""}});
  const std::string path =
      std::string(TESTS_SOURCE_DIR "/coordinator/report/golden/") + name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) WriteFile(path, text);
  EXPECT_EQ(text, ReadFile(path)) << path;
}

std::string Render(RoundStore& store, v1::ReportFormat format) {
  return RenderReport(store, 0, format).value();
}

class ReportFormatsTest : public testing::Test {
 protected:
  TempDir dir_;
  std::unique_ptr<RoundStore> store_ =
      OpenRoundStore(dir_.File("r.db")).value();
};

TEST_F(ReportFormatsTest, SampleRunIsAsTheGoldenFiles) {
  MeasureSampleRun(*store_);
  ExpectGolden(Render(*store_, v1::REPORT_TEXT), "sample.txt");
  ExpectGolden(Render(*store_, v1::REPORT_MD), "sample.md");
  ExpectGolden(Render(*store_, v1::REPORT_CSV), "sample.csv");
  ExpectGolden(Render(*store_, v1::REPORT_JSON), "sample.json");
}

// What std::locale("de_DE") would bring into every stream.
class DecimalComma final : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(ReportFormatsTest, GlobalStreamLocaleDoesNotShow) {
  MeasureSampleRun(*store_);
  const std::locale before =
      std::locale::global(std::locale(std::locale(), new DecimalComma));
  const std::string text = Render(*store_, v1::REPORT_TEXT);
  const std::string json = Render(*store_, v1::REPORT_JSON);
  const std::string csv = Render(*store_, v1::REPORT_CSV);
  std::locale::global(before);
  ExpectGolden(text, "sample.txt");
  ExpectGolden(json, "sample.json");
  ExpectGolden(csv, "sample.csv");
}

TEST_F(ReportFormatsTest, LocaleDoesNotShow) {
  MeasureSampleRun(*store_);
  const char* locale = setlocale(LC_ALL, "de_DE.UTF-8");
  ExpectGolden(Render(*store_, v1::REPORT_TEXT), "sample.txt");
  ExpectGolden(Render(*store_, v1::REPORT_JSON), "sample.json");
  ExpectGolden(Render(*store_, v1::REPORT_CSV), "sample.csv");
  setlocale(LC_ALL, "C");
  if (locale == nullptr) GTEST_SKIP() << "de_DE.UTF-8 is not installed";
}

TEST_F(ReportFormatsTest, EverythingGoodIsAPass) {
  MeasureSampleRun(*store_, false);
  EXPECT_THAT(Render(*store_, v1::REPORT_JSON),
              HasSubstr("\"status\": \"PASS\""));
  EXPECT_THAT(
      Render(*store_, v1::REPORT_TEXT),
      HasSubstr("PASS: 4 of 4 rounds counted, 8 requests completed, 0"));
}

TEST_F(ReportFormatsTest, UnfinishedRunIsNoPass) {
  ASSERT_TRUE(store_->CreateRun(SampleRun()).ok());
  const std::string json = Render(*store_, v1::REPORT_JSON);
  EXPECT_THAT(json, HasSubstr("\"status\": \"FAIL\""));
  EXPECT_THAT(json, HasSubstr("run is not finished"));
  EXPECT_THAT(json, HasSubstr("\"rows\": []"));
  EXPECT_THAT(Render(*store_, v1::REPORT_TEXT), HasSubstr("not finished"));
}

TEST_F(ReportFormatsTest, MissingRunIsNotFound) {
  EXPECT_EQ(RenderReport(*store_, 5, v1::REPORT_TEXT).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ReportFormatsTest, ReferenceFitsIntoATerminal) {
  const std::string reference =
      ReadFile(TESTS_SOURCE_DIR "/testdata/reference.json");
  ASSERT_TRUE(ImportResultFile(*store_, reference, absl::UnixEpoch()).ok());
  const std::string text = Render(*store_, v1::REPORT_TEXT);
  ExpectGolden(text, "reference.txt");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 120u) << line;
  }
}

TEST_F(ReportFormatsTest, ManyEnginesAreWrapped) {
  ReportModel model;
  model.cases = {{"c", 1, 2, 3, 4, 0, false}};
  for (uint32_t i = 0; i < 9; ++i) {
    model.engines.emplace_back().name = "engine-" + std::to_string(i);
    CaseAggregate aggregate;
    aggregate.engine = i;
    aggregate.rounds = 1;
    for (auto& metric : aggregate.metrics) {
      metric = {1000.0 + i, 1000.0, 2000.0};
    }
    model.aggregates.push_back(aggregate);
  }
  const std::string text = ReportText(model);
  EXPECT_THAT(text, HasSubstr("engine-8"));
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 120u) << line;
  }
}

TEST_F(ReportFormatsTest, RatioIsToTheFirstEngineOrThereIsNone) {
  ReportModel model;
  model.cases = {{"both", 1, 2, 3, 4, 0, false}, {"one", 1, 2, 3, 4, 0, false}};
  model.engines.resize(3);
  const auto add = [&](uint32_t engine, uint32_t case_index, double value) {
    CaseAggregate aggregate;
    aggregate.engine = engine;
    aggregate.case_index = case_index;
    for (auto& metric : aggregate.metrics) metric = {value, value, value};
    model.aggregates.push_back(aggregate);
  };
  add(1, 0, 30);
  add(0, 0, 20);
  add(1, 1, 10);
  add(2, 1, 20);
  const std::string text = ReportText(model);
  EXPECT_THAT(text,
              HasSubstr("20.00 [20.00-20.00]   30.00 [30.00-30.00]  1.50x"));
  EXPECT_THAT(text, testing::Not(HasSubstr("2.00x")));
}

TEST(ReportCsvTest, CellsAreQuotedAndHarmless) {
  struct Row {
    const char* text;
    const char* cell;
  };
  const Row rows[] = {{"plain", "plain"},
                      {"a,\"b\"", "\"a,\"\"b\"\"\""},
                      {"x\ny;z", "\"x\ny;z\""},
                      {"=1+1", "'=1+1"},
                      {"@SUM(A1)", "'@SUM(A1)"},
                      {"-3", "'-3"},
                      {"+1,2", "\"'+1,2\""},
                      {"\tx", "'\tx"},
                      {"", ""},
                      {"caf\xe9", "caf\xef\xbf\xbd"}};
  for (const Row& row : rows) EXPECT_EQ(CsvText(row.text), row.cell);
}

}  // namespace
}  // namespace benchfleet
