// Text of others made fit for files that others read. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace benchfleet {

// Each maximal ill-formed part becomes U+FFFD; well-formed text is unchanged.
std::string CleanUtf8(absl::string_view text);

// At most `limit` bytes on one line: control characters become blanks, and a
// cut is shown by "...".
std::string OneLine(absl::string_view text, size_t limit);

}  // namespace benchfleet
