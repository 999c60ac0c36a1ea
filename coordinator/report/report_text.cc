#include "coordinator/report/report_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/report/report_table.h"
#include "coordinator/report/text_encoding.h"
#include "coordinator/report/verdict_text.h"

namespace benchfleet {
namespace {

constexpr size_t kColumns = 120;
constexpr size_t kMetricWidth = 16;
constexpr size_t kGap = 3;

// Characters, not bytes; wide ones count as one.
size_t WidthOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Padded(absl::string_view text, size_t width) {
  const size_t own = WidthOf(text);
  return absl::StrCat(text, std::string(own < width ? width - own : 0, ' '));
}

std::string CellText(const TableCell& cell) {
  return absl::StrCat(cell.figures, cell.ratio.empty() ? "" : "  ", cell.ratio);
}

size_t ColumnWidth(const CaseTable& table, size_t engine) {
  size_t width = WidthOf(table.engines[engine]);
  for (const TableLine& line : table.lines) {
    width = std::max(width, WidthOf(CellText(line.cells[engine])));
  }
  return width;
}

void AppendLine(std::string line, std::string* text) {
  absl::StripTrailingAsciiWhitespace(&line);
  absl::StrAppend(text, line, "\n");
}

// Engines [begin, end) of a table side by side.
void AppendEngines(const CaseTable& table, const std::vector<size_t>& widths,
                   size_t begin, size_t end, std::string* text) {
  std::string line = std::string(2 + kMetricWidth, ' ');
  for (size_t i = begin; i < end; ++i) {
    absl::StrAppend(&line, Padded(table.engines[i], widths[i] + kGap));
  }
  AppendLine(std::move(line), text);
  for (const TableLine& row : table.lines) {
    line = absl::StrCat("  ", Padded(row.metric, kMetricWidth));
    for (size_t i = begin; i < end; ++i) {
      absl::StrAppend(&line, Padded(CellText(row.cells[i]), widths[i] + kGap));
    }
    AppendLine(std::move(line), text);
  }
}

void AppendTable(const CaseTable& table, const std::vector<size_t>& widths,
                 std::string* text) {
  absl::StrAppend(text, "\n", table.case_id, "  (", table.shape, ")\n");
  size_t begin = 0;
  while (begin < table.engines.size()) {
    size_t end = begin;
    size_t used = 2 + kMetricWidth;
    while (end < table.engines.size() &&
           (end == begin || used + widths[end] <= kColumns)) {
      used += widths[end] + kGap;
      ++end;
    }
    AppendEngines(table, widths, begin, end, text);
    begin = end;
  }
}

// Equal columns over all cases, so that the eye can run down.
std::vector<size_t> Widths(const std::vector<CaseTable>& tables) {
  std::vector<size_t> widths;
  for (const CaseTable& table : tables) {
    widths.resize(std::max(widths.size(), table.engines.size()));
    for (size_t i = 0; i < table.engines.size(); ++i) {
      widths[i] = std::max(widths[i], ColumnWidth(table, i));
    }
  }
  return widths;
}

std::string HeadLine(const ReportModel& model) {
  std::vector<std::string> parts = {absl::StrCat(
      "run ", model.run.id, " ", OneLine(model.run.suite_name, 40))};
  for (const std::string& part :
       {model.run.model, model.run.precision, model.run.hardware}) {
    if (!part.empty()) parts.push_back(OneLine(part, 40));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

std::string ReportText(const ReportModel& model) {
  std::string text =
      absl::StrCat(HeadLine(model), "\n", StatusLine(model), "\n");
  for (const std::string& note : ReportNotes(model)) {
    absl::StrAppend(&text, "  ", note, "\n");
  }
  const std::vector<CaseTable> tables = CompareEngines(model);
  const std::vector<size_t> widths = Widths(tables);
  for (const CaseTable& table : tables) AppendTable(table, widths, &text);
  if (tables.empty()) return text;
  absl::StrAppend(&text, "\nmedian [min-max] over rounds",
                  model.engines.size() > 1
                      ? "; x: ratio of medians to the first engine\n"
                      : "\n");
  return text;
}

}  // namespace benchfleet
