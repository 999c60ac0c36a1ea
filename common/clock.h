// The one way to the time. Two kinds that never mix: Now() is monotonic and
// measures, WallNow() labels what people read.
#pragma once

#include <compare>
#include <cstdint>

#include "absl/time/time.h"

namespace benchfleet {

// A point of one host's CLOCK_MONOTONIC, in ns. Points of two hosts are never
// subtracted for a latency.
struct Instant {
  int64_t ns = 0;

  friend auto operator<=>(const Instant&, const Instant&) = default;
  friend absl::Duration operator-(Instant a, Instant b) {
    return absl::Nanoseconds(a.ns - b.ns);
  }
  friend Instant operator+(Instant a, absl::Duration d) {
    return {a.ns + absl::ToInt64Nanoseconds(d)};
  }
};

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;
  virtual absl::Time WallNow() const = 0;
};

class RealClock final : public Clock {
 public:
  Instant Now() const override;
  absl::Time WallNow() const override;
};

}  // namespace benchfleet
