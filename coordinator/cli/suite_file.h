// The file that a suite is in.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace benchfleet {

// Its bytes, unread: at most kMaxSuiteBytes. The error names the path and what
// to do.
absl::StatusOr<std::string> ReadSuiteFile(const std::string& path);

}  // namespace benchfleet
