// How a run's progress is shown while it goes on.
#pragma once

#include <cstdio>
#include <string>

#include "benchfleet/v1/control.pb.h"
#include "common/clock.h"

namespace benchfleet {

// One line: engine, case, repeat, requests done and failed, throughput, ETA; or
// what the run waits for. Pure.
std::string ProgressLine(const v1::RunProgress& progress);

// On a terminal one line that is rewritten; elsewhere a plain line at the end
// of each attempt and now and then in between.
class ProgressView {
 public:
  ProgressView(std::FILE* out, const Clock& clock);
  void Show(const v1::RunProgress& progress);
  // Clears the line, or prints the last one.
  void End();

 private:
  void Flush();

  std::FILE* const out_;
  const Clock& clock_;
  const bool terminal_;
  std::string last_topic_;
  Instant last_shown_;
  bool line_open_ = false;
  std::string pending_, last_printed_;  // plain lines only
};

}  // namespace benchfleet
