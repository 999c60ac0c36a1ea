#include "coordinator/report/verdict_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {
namespace {

constexpr size_t kMostExcludedShown = 10;
constexpr size_t kLineBytes = 300;

std::string ExcludedLine(const ReportModel& model,
                         const ExcludedAttempt& excluded) {
  const AttemptRow& attempt = excluded.attempt;
  return absl::StrCat(
      "excluded: ", model.EngineOf(excluded.round).name, " ",
      model.CaseOf(excluded.round).id, " repeat ", excluded.round.repeat,
      attempt.kind == AttemptKind::kWarmup ? " warm-up" : "", " attempt ",
      attempt.number, ": ", VerdictText(attempt.verdict),
      attempt.reason.empty() ? "" : ", ", attempt.reason);
}

}  // namespace

absl::string_view KindText(AttemptKind kind) {
  return kind == AttemptKind::kWarmup ? "WARMUP" : "COUNTED";
}

absl::string_view VerdictText(AttemptVerdict verdict) {
  switch (verdict) {
    case AttemptVerdict::kOpen:
      return "OPEN";
    case AttemptVerdict::kValid:
      return "VALID";
    case AttemptVerdict::kInvalid:
      return "INVALID";
    case AttemptVerdict::kAborted:
      return "ABORTED";
  }
  return "";
}

std::string StatusLine(const ReportModel& model) {
  int64_t completed = 0;
  int64_t failed = 0;
  for (const CountedRound& row : model.rows) {
    completed += row.result.completed;
    failed += row.result.failed;
  }
  return absl::StrCat(model.pass ? "PASS" : "FAIL", ": ", model.rows.size(),
                      " of ", model.planned_rounds, " rounds counted, ",
                      completed, " requests completed, ", failed, " failed");
}

std::vector<std::string> ReportNotes(const ReportModel& model) {
  std::vector<std::string> notes;
  for (const std::string& reason : model.reasons) {
    notes.push_back(absl::StrCat("reason: ", reason));
  }
  const size_t shown = std::min(model.excluded.size(), kMostExcludedShown);
  for (size_t i = 0; i < shown; ++i) {
    notes.push_back(ExcludedLine(model, model.excluded[i]));
  }
  if (shown < model.excluded.size()) {
    notes.push_back(absl::StrCat("excluded: ", model.excluded.size() - shown,
                                 " more attempts (--format=json has all)"));
  }
  for (const EngineRow& engine : model.engines) {
    if (!engine.insecure_skip_verify) continue;
    notes.push_back(absl::StrCat("warning: ", engine.name,
                                 ": its certificate was not verified"));
  }
  for (std::string& note : notes) note = OneLine(note, kLineBytes);
  return notes;
}

}  // namespace benchfleet
