// "Did you mean": the known name that a misspelt one is nearest to.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace benchfleet {

// Insertions, removals, replacements and swaps of neighbours between two
// names, upper and lower case being equal.
int EditDistance(absl::string_view a, absl::string_view b);

// Empty if none is near: at most a third of the letters differ, or one name
// holds the other.
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& known);

}  // namespace benchfleet
