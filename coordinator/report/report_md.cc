#include "coordinator/report/report_md.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/report/report_table.h"
#include "coordinator/report/text_encoding.h"
#include "coordinator/report/verdict_text.h"

namespace benchfleet {
namespace {

// Text of others must not become markup.
std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"},
                                    {"|", "\\|"},
                                    {"*", "\\*"},
                                    {"_", "\\_"},
                                    {"`", "\\`"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"&", "&amp;"},
                                    {"[", "\\["},
                                    {"]", "\\]"},
                                    {"#", "\\#"}});
}

void AppendTable(const CaseTable& table, std::string* text) {
  absl::StrAppend(text, "\n## ", Escaped(table.case_id), "\n\n", table.shape,
                  "\n\n| metric |");
  std::string rule = "| --- |";
  for (size_t i = 0; i < table.engines.size(); ++i) {
    absl::StrAppend(text, " ", Escaped(table.engines[i]), " |",
                    i == 0 ? "" : " ratio |");
    absl::StrAppend(&rule, " ---: |", i == 0 ? "" : " ---: |");
  }
  absl::StrAppend(text, "\n", rule, "\n");
  for (const TableLine& line : table.lines) {
    absl::StrAppend(text, "| ", line.metric, " |");
    for (size_t i = 0; i < line.cells.size(); ++i) {
      absl::StrAppend(text, " ", line.cells[i].figures, " |");
      if (i > 0) absl::StrAppend(text, " ", line.cells[i].ratio, " |");
    }
    absl::StrAppend(text, "\n");
  }
}

}  // namespace

std::string ReportMarkdown(const ReportModel& model) {
  std::string text = absl::StrCat("# Run ", model.run.id, ": ",
                                  Escaped(OneLine(model.run.suite_name, 100)),
                                  "\n\n**", StatusLine(model), "**\n");
  for (const std::string& part :
       {model.run.model, model.run.precision, model.run.hardware}) {
    if (!part.empty()) {
      absl::StrAppend(&text, "\n- ", Escaped(OneLine(part, 200)));
    }
  }
  for (const std::string& note : ReportNotes(model)) {
    absl::StrAppend(&text, "\n- ", Escaped(note));
  }
  absl::StrAppend(&text, "\n");
  for (const CaseTable& table : CompareEngines(model)) {
    AppendTable(table, &text);
  }
  absl::StrAppend(&text, "\nCells: median [min-max]. ",
                  Escaped(OneLine(model.statistics, 500)), " ",
                  Escaped(OneLine(model.scope, 500)), "\n");
  return text;
}

}  // namespace benchfleet
