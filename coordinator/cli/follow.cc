#include "coordinator/cli/follow.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/progress_view.h"
#include "coordinator/cli/verb_output.h"

namespace benchfleet {

int ExitCodeOf(const v1::RunProgress& over) {
  switch (over.state()) {
    case v1::FINISHED:
      return over.verdict() == "PASS" ? kExitPass : kExitFail;
    case v1::CANCELLED_RUN:
      return kExitInterrupted;
    default:
      return kExitCouldNotRun;
  }
}

std::string OutcomeText(const v1::RunProgress& over) {
  std::string text = absl::StrCat("run ", over.run_id(), ": ");
  switch (over.state()) {
    case v1::FINISHED:
      absl::StrAppend(&text, over.verdict());
      break;
    case v1::CANCELLED_RUN:
      return absl::StrCat(text, "cancelled\n");
    default:
      absl::StrAppend(&text, "could not run");
  }
  absl::StrAppend(&text, "\n");
  for (const std::string& reason : over.reasons()) {
    absl::StrAppend(&text, "  ", reason, "\n");
  }
  return text;
}

int FollowRun(ControlClient& client, int64_t run_id, const Clock& clock) {
  ProgressView view(stderr, clock);
  const absl::StatusOr<v1::RunProgress> over = client.Watch(
      run_id, [&](const v1::RunProgress& progress) { view.Show(progress); });
  view.End();
  if (!over.ok()) return FailVerb("watch", over.status());
  if (over->state() == v1::FINISHED) {
    const auto report = client.Report(over->run_id(), v1::REPORT_TEXT);
    if (!report.ok()) return FailVerb("report", report.status());
    std::fputs(report->c_str(), stdout);
    std::fflush(stdout);
  }
  std::fputs(OutcomeText(*over).c_str(), stderr);
  return ExitCodeOf(*over);
}

}  // namespace benchfleet
