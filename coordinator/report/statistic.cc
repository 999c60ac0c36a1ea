#include "coordinator/report/statistic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace benchfleet {

std::optional<double> Mean(absl::Span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  double sum = 0;
  double lost = 0;
  for (const double x : samples) {
    const double next = sum + x;
    lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  return (sum + lost) / static_cast<double>(samples.size());
}

std::optional<double> Percentile(absl::Span<const double> sorted, double q) {
  if (sorted.empty()) return std::nullopt;
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const double rank = std::floor(position);
  const size_t below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - rank;
  const double step = sorted[above] - sorted[below];
  // From the nearer end, as numpy does: never beyond either.
  if (fraction >= 0.5) return sorted[above] - step * (1 - fraction);
  return sorted[below] + step * fraction;
}

std::optional<double> Median(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  if (samples.size() % 2 == 1) return samples[middle];
  return (samples[middle - 1] + samples[middle]) / 2;
}

}  // namespace benchfleet
