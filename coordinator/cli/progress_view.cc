#include "coordinator/cli/progress_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace benchfleet {
namespace {

constexpr absl::Duration kPlainLineEvery = absl::Seconds(10);
constexpr absl::Duration kRedrawEvery = absl::Milliseconds(100);

// What a line is about. Elsewhere than on a terminal, the last line of a topic
// is printed once the next begins, and now and then in between.
std::string Topic(const v1::RunProgress& p) {
  return absl::StrCat(p.state(), "|", p.waiting_for(), "|", p.engine(), "|",
                      p.case_id(), "|", p.repeat(), "|", p.warmup(), "|",
                      p.attempt_number());
}

std::string WholeSeconds(uint64_t ns) {
  const absl::Duration d = absl::Nanoseconds(static_cast<int64_t>(ns));
  return absl::FormatDuration(absl::Trunc(d, absl::Seconds(1)));
}

size_t TerminalWidth(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string ProgressLine(const v1::RunProgress& p) {
  if (!p.waiting_for().empty()) {
    return absl::StrCat("run ", p.run_id(), " waits for ", p.waiting_for());
  }
  const bool over = p.state() != v1::RUNNING && p.state() != v1::QUEUED;
  if (over || p.engine().empty()) {
    return absl::StrCat("run ", p.run_id(), over ? " is over" : " starts");
  }
  const double seconds = static_cast<double>(p.attempt_elapsed_ns()) / 1e9;
  const double rate =
      seconds > 0 ? static_cast<double>(p.output_tokens()) / seconds : 0;
  std::string line =
      absl::StrFormat("[%d/%d] %s %s %d/%d", p.rounds_done(), p.rounds_total(),
                      p.engine(), p.case_id(), p.repeat(), p.repeats());
  if (p.warmup()) absl::StrAppend(&line, " warm-up");
  if (p.attempt_number() > 1) {
    absl::StrAppend(&line, " attempt ", p.attempt_number());
  }
  absl::StrAppendFormat(&line, "  %d/%d requests, %d failed, %.1f tok/s",
                        p.requests_completed() + p.requests_failed(),
                        p.requests_total(), p.requests_failed(), rate);
  absl::StrAppend(&line, "  elapsed ", WholeSeconds(p.run_elapsed_ns()));
  if (p.eta_ns() != 0)
    absl::StrAppend(&line, ", ETA ", WholeSeconds(p.eta_ns()));
  return line;
}

ProgressView::ProgressView(std::FILE* out, const Clock& clock)
    : out_(out), clock_(clock), terminal_(isatty(fileno(out)) == 1) {}

void ProgressView::Show(const v1::RunProgress& progress) {
  const Instant now = clock_.Now();
  const std::string topic = Topic(progress);
  const bool new_topic = topic != last_topic_;
  last_topic_ = topic;
  std::string line = ProgressLine(progress);
  if (terminal_) {
    if (!new_topic && now - last_shown_ < kRedrawEvery) return;
    line.resize(std::min(line.size(), TerminalWidth(out_) - 1));
    std::fprintf(out_, "\r\033[K%s", line.c_str());
    std::fflush(out_);
    line_open_ = true;
  } else {
    if (new_topic) Flush();
    pending_ = std::move(line);
    if (progress.waiting_for().empty() && now - last_shown_ < kPlainLineEvery) {
      return;
    }
    Flush();
  }
  last_shown_ = now;
}

void ProgressView::Flush() {
  if (pending_.empty()) return;
  if (pending_ != last_printed_) std::fprintf(out_, "%s\n", pending_.c_str());
  std::fflush(out_);
  last_printed_ = std::move(pending_);
  pending_.clear();
}

void ProgressView::End() {
  Flush();
  if (!line_open_) return;
  std::fprintf(out_, "\r\033[K");
  std::fflush(out_);
  line_open_ = false;
}

}  // namespace benchfleet
