#include "coordinator/plan/nearest_name.h"

#include <algorithm>
#include <climits>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace benchfleet {
namespace {

// Longer ones are no misspelt names, and cost.
constexpr size_t kMaxLength = 64;

bool Holds(absl::string_view whole, absl::string_view part) {
  return absl::StrContains(absl::AsciiStrToLower(whole),
                           absl::AsciiStrToLower(part));
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  const std::string from = absl::AsciiStrToLower(a);
  const std::string to = absl::AsciiStrToLower(b);
  const size_t width = to.size() + 1;
  std::vector<int> before(width), last(width), row(width);
  for (size_t j = 0; j < width; ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      const int differs = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
          from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& known) {
  if (name.empty() || name.size() > kMaxLength) return "";
  const std::string* best = nullptr;
  int best_distance = INT_MAX;
  for (const std::string& candidate : known) {
    const int distance = EditDistance(name, candidate);
    const size_t longer = std::max(name.size(), candidate.size());
    const bool near = distance <= std::max(1, static_cast<int>(longer) / 3) ||
                      (std::min(name.size(), candidate.size()) > 2 &&
                       (Holds(name, candidate) || Holds(candidate, name)));
    if (near && distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : *best;
}

}  // namespace benchfleet
