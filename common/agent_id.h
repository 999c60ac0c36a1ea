// The id that an agent goes by: stable over restarts, unique in the fleet.
#pragma once

#include "absl/strings/string_view.h"

namespace benchfleet {

// 1 to 100 of letters, digits, '.', '_' and '-': ids stand in tables, reports
// and log lines.
inline bool IsAgentId(absl::string_view id) {
  constexpr absl::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !id.empty() && id.size() <= 100 &&
         id.find_first_not_of(kAllowed) == absl::string_view::npos;
}

}  // namespace benchfleet
