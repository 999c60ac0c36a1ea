// Mean, percentile and median of samples. Pure.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace benchfleet {

// Compensated (Neumaier), so that the order and number of samples do not show
// in the last digits. Absent if empty.
std::optional<double> Mean(absl::Span<const double> samples);

// Linear interpolation between the closest ranks, at position (n-1)*q, as
// numpy's default. One sample is every percentile; none has none.
// REQUIRES: `sorted` ascending, 0 <= q <= 1.
std::optional<double> Percentile(absl::Span<const double> sorted, double q);

// Of an even count the mean of the middle two. Absent if empty.
std::optional<double> Median(std::vector<double> samples);

}  // namespace benchfleet
