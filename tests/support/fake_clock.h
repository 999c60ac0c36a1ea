// A clock that moves only when told.
#pragma once

#include <atomic>

#include "absl/time/time.h"
#include "common/clock.h"

namespace benchfleet {

// Thread-safe. Wall time runs along with the monotonic one.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Instant start = {1'000'000'000'000}) : now_(start.ns) {}

  Instant Now() const override { return {now_.load()}; }
  absl::Time WallNow() const override {
    return absl::FromUnixSeconds(1'800'000'000) +
           absl::Nanoseconds(now_.load());
  }

  void Advance(absl::Duration d) { now_ += absl::ToInt64Nanoseconds(d); }
  // Never back.
  void AdvanceTo(Instant t) {
    if (t.ns > now_.load()) now_ = t.ns;
  }

 private:
  std::atomic<int64_t> now_;
};

}  // namespace benchfleet
