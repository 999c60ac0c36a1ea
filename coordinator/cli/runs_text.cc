#include "coordinator/cli/runs_text.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {
namespace {

constexpr size_t kColumns = 7;
using Cells = std::array<std::string, kColumns>;

std::string StateText(const v1::RunSummary& run) {
  if (run.imported()) return "imported";
  switch (run.state()) {
    case v1::QUEUED:
      return "queued";
    case v1::RUNNING:
      return "running";
    case v1::FINISHED:
      return "finished";
    case v1::CANCELLED_RUN:
      return "cancelled";
    case v1::COULD_NOT_RUN:
      return "could not run";
    default:
      return "unknown";
  }
}

Cells CellsOf(const v1::RunSummary& run) {
  return {absl::StrCat(run.run_id()),
          StateText(run),
          run.verdict().empty() ? "-" : run.verdict(),
          absl::StrCat(run.rounds_done(), "/", run.rounds_total()),
          absl::FormatTime("%Y-%m-%d %H:%M:%S",
                           absl::FromUnixNanos(run.created_unix_ns()),
                           absl::UTCTimeZone()),
          OneLine(run.suite_name(), 40),
          OneLine(absl::StrCat(run.model(), " on ",
                               absl::StrJoin(run.engines(), ", ")),
                  60)};
}

}  // namespace

std::string RunsText(const std::vector<v1::RunSummary>& runs) {
  if (runs.empty()) return "no runs\n";
  std::vector<Cells> lines = {
      {"RUN", "STATE", "VERDICT", "ROUNDS", "CREATED (UTC)", "SUITE", "MODEL"}};
  for (const v1::RunSummary& run : runs) lines.push_back(CellsOf(run));
  std::array<size_t, kColumns> widths = {};
  for (const Cells& cells : lines) {
    for (size_t i = 0; i < kColumns; ++i) {
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  std::string text;
  for (const Cells& cells : lines) {
    std::string line;
    for (size_t i = 0; i < kColumns; ++i) {
      absl::StrAppend(&line, cells[i],
                      std::string(widths[i] - cells[i].size() + 2, ' '));
    }
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace benchfleet
