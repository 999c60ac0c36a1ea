// The report's two sentences on how its figures came about. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace benchfleet {

// "Each metric: median and range across three rounds. ..."
std::string StatisticsText(uint32_t repeats);

// "Fixed-length synthetic text via completions; excludes ...", with the prompt
// formats and endpoints of the suite. `suite_text` that cannot be read gives a
// sentence without them.
std::string ScopeText(absl::string_view suite_text);

}  // namespace benchfleet
