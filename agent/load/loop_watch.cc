#include "agent/load/loop_watch.h"

#include <algorithm>
#include <ctime>
#include <fstream>

namespace benchfleet {
namespace {

int64_t ThreadCpuNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Second field of schedstat: time spent runnable but waiting for a core.
int64_t ThreadRunDelayNs() {
  std::ifstream file("/proc/thread-self/schedstat");
  int64_t on_cpu = 0, waited = 0;
  file >> on_cpu >> waited;
  return waited;
}

uint64_t Unsigned(int64_t ns) {
  return static_cast<uint64_t>(std::max<int64_t>(ns, 0));
}

}  // namespace

void LoopWatch::Begin(Instant now) {
  *this = LoopWatch();
  began_ = now;
  cpu_at_start_ns_ = ThreadCpuNs();
  run_delay_at_start_ns_ = ThreadRunDelayNs();
}

void LoopWatch::PollReturned(Instant until, Instant now) {
  longest_stall_ns_ = std::max(longest_stall_ns_, now.ns - until.ns);
}

void LoopWatch::TurnEnded(Instant turn_began, Instant now) {
  const int64_t turn_ns = now.ns - turn_began.ns;
  longest_turn_ns_ = std::max(longest_turn_ns_, turn_ns);
  longest_stall_ns_ = std::max(longest_stall_ns_, turn_ns);
}

v1::ShareEvidence LoopWatch::Evidence(Instant now) {
  v1::ShareEvidence evidence;
  evidence.set_loop_cpu_ns(Unsigned(ThreadCpuNs() - cpu_at_start_ns_));
  evidence.set_loop_wall_ns(Unsigned(now.ns - began_.ns));
  evidence.set_loop_longest_turn_ns(Unsigned(longest_turn_ns_));
  evidence.set_run_queue_delay_ns(
      Unsigned(ThreadRunDelayNs() - run_delay_at_start_ns_));
  evidence.set_longest_stall_ns(Unsigned(longest_stall_ns_));
  if (!turnarounds_ns_.empty()) {
    std::sort(turnarounds_ns_.begin(), turnarounds_ns_.end());
    const size_t last = turnarounds_ns_.size() - 1;
    evidence.set_slot_turnaround_p50_ns(Unsigned(turnarounds_ns_[last / 2]));
    evidence.set_slot_turnaround_p99_ns(
        Unsigned(turnarounds_ns_[last * 99 / 100]));
  }
  return evidence;
}

}  // namespace benchfleet
