#include "coordinator/report/report_csv.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "coordinator/report/number_format.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {
namespace {

std::string Number(const std::optional<double>& value) {
  return value ? PythonFloat(*value) : "";
}

std::string HeadLine() {
  return absl::StrCat(
      "run_id,engine,case_id,repeat,input_tokens,output_tokens,concurrency,"
      "completed,failed,total_output_tokens,source_sha256,",
      absl::StrJoin(kRoundMetricNames, ","),
      ",attempt_id,agents,concurrency_utilisation,duration_bound_s,"
      "tokens_per_chunk,new_connections,coalesced,wrong_length,"
      "wrong_input_length,usage_inconsistent,request_set_sha256\r\n");
}

std::vector<std::string> ExtraCells(const RunRow& run, const RoundResult& r) {
  if (run.imported) return std::vector<std::string>(11);
  return {
      absl::StrCat(r.attempt_id),         absl::StrCat(r.agents),
      Number(r.concurrency_utilisation),  Number(r.duration_bound_s),
      Number(r.tokens_per_chunk),         absl::StrCat(r.new_connections),
      absl::StrCat(r.coalesced),          absl::StrCat(r.wrong_length),
      absl::StrCat(r.wrong_input_length), absl::StrCat(r.usage_inconsistent),
      CsvText(r.request_set_sha256)};
}

std::string RowLine(const ReportModel& model, const CountedRound& row) {
  const CaseRow& shape = model.CaseOf(row.round);
  const RoundResult& result = row.result;
  std::vector<std::string> cells = {absl::StrCat(model.run.id),
                                    CsvText(model.EngineOf(row.round).name),
                                    CsvText(shape.id),
                                    absl::StrCat(row.round.repeat),
                                    absl::StrCat(shape.input_tokens),
                                    absl::StrCat(shape.output_tokens),
                                    absl::StrCat(shape.concurrency),
                                    absl::StrCat(result.completed),
                                    absl::StrCat(result.failed),
                                    absl::StrCat(result.total_output_tokens),
                                    CsvText(result.source_sha256)};
  for (const auto& metric : result.metrics) cells.push_back(Number(metric));
  for (std::string& cell : ExtraCells(model.run, result)) {
    cells.push_back(std::move(cell));
  }
  return absl::StrCat(absl::StrJoin(cells, ","), "\r\n");
}

}  // namespace

std::string CsvText(absl::string_view text) {
  std::string cell = CleanUtf8(text);
  if (!cell.empty() && absl::string_view("=+-@\t\r\n").find(cell[0]) !=
                           absl::string_view::npos) {
    cell.insert(0, 1, '\'');
  }
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

std::string ReportCsv(const ReportModel& model) {
  std::string text = HeadLine();
  for (const CountedRound& row : model.rows) {
    absl::StrAppend(&text, RowLine(model, row));
  }
  return text;
}

}  // namespace benchfleet
