// Counts of delays in buckets that are 1/8 of their power of two wide.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace benchfleet {

// Thread-compatible. Add is a few instructions and never allocates.
class LagHistogram {
 public:
  // Less than 0 counts as 0.
  void Add(int64_t ns) {
    ++counts_[Bucket(static_cast<uint64_t>(std::max<int64_t>(ns, 0)))];
    ++total_;
  }

  // The least bucket end that at least `share` (0 to 1) of the delays do not
  // exceed: at most 1/8 too large. 0 without any.
  int64_t Percentile(double share) const {
    const double rank = share * static_cast<double>(total_);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > 0 && static_cast<double>(seen) >= rank) return End(i);
    }
    return 0;
  }

 private:
  static constexpr int kBits = 3;
  static constexpr uint64_t kPerPower = 1u << kBits;

  static size_t Bucket(uint64_t ns) {
    if (ns < kPerPower) return ns;
    const int shift = static_cast<int>(std::bit_width(ns)) - 1 - kBits;
    return (static_cast<size_t>(shift) << kBits) + (ns >> shift);
  }
  // The largest delay of the bucket.
  static int64_t End(size_t bucket) {
    if (bucket < 2 * kPerPower) return static_cast<int64_t>(bucket);
    const size_t shift = (bucket >> kBits) - 1;
    const uint64_t top = bucket - (shift << kBits);
    return static_cast<int64_t>(((top + 1) << shift) - 1);
  }

  std::array<uint64_t, 64 * kPerPower> counts_{};
  uint64_t total_ = 0;
};

}  // namespace benchfleet
