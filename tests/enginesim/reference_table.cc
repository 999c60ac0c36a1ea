#include "tests/enginesim/reference_table.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace benchfleet::enginesim {
namespace {

bool ParseRow(const std::vector<absl::string_view>& cells, ReferenceRow& row) {
  if (cells.size() != 6 + Figures().size()) return false;
  row.engine = std::string(cells[0]);
  row.case_id = std::string(cells[1]);
  if (!absl::SimpleAtoi(cells[2], &row.load.input_tokens) ||
      !absl::SimpleAtoi(cells[3], &row.load.output_tokens) ||
      !absl::SimpleAtoi(cells[4], &row.load.concurrency) ||
      !absl::SimpleAtoi(cells[5], &row.load.requests))
    return false;
  for (size_t i = 0; i < Figures().size(); ++i)
    if (!absl::SimpleAtod(cells[6 + i], &(row.measured.*Figures()[i].field)))
      return false;
  return true;
}

}  // namespace

absl::StatusOr<std::vector<ReferenceRow>> ParseReferenceTable(
    absl::string_view text) {
  std::vector<ReferenceRow> rows;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    ReferenceRow row;
    if (!ParseRow(absl::StrSplit(line, ' ', absl::SkipEmpty()), row))
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, " is no row of figures"));
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::vector<Figure>& Figures() {
  static const auto* figures =
      new std::vector<Figure>{{"out_tok/s", &Prediction::output_throughput, 4},
                              {"mean_ttft", &Prediction::mean_ttft_ms, 1},
                              {"p50_ttft", &Prediction::p50_ttft_ms, 0.3},
                              {"mean_tpot", &Prediction::mean_tpot_ms, 2},
                              {"p50_itl", &Prediction::p50_itl_ms, 2},
                              {"mean_e2el", &Prediction::mean_e2el_ms, 2}};
  return *figures;
}

std::string ComparisonHeader() {
  std::string line = absl::StrFormat("%-7s%-18s", "engine", "case");
  for (const Figure& figure : Figures())
    absl::StrAppendFormat(&line, "%26s", figure.name);
  return line;
}

std::string ComparisonLine(const ReferenceRow& row,
                           const Prediction& predicted) {
  std::string line = absl::StrFormat("%-7s%-18s", row.engine, row.case_id);
  for (const Figure& figure : Figures()) {
    const double model = predicted.*figure.field;
    const double real = row.measured.*figure.field;
    absl::StrAppendFormat(&line, "%9.2f/%8.2f %+6.1f%%", model, real,
                          100 * (model / real - 1));
  }
  return line;
}

}  // namespace benchfleet::enginesim
