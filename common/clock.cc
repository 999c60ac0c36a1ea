#include "common/clock.h"

#include <ctime>

#include "absl/time/clock.h"

namespace benchfleet {

Instant RealClock::Now() const {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return {int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec};
}

absl::Time RealClock::WallNow() const { return absl::Now(); }

}  // namespace benchfleet
