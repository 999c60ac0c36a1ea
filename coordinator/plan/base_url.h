// Which addresses of an engine a suite may hold.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

// http or https, a host, perhaps a port and a path, nothing else.
// InvalidArgument: what is wrong; never repeats what could be a secret.
absl::Status CheckBaseUrl(absl::string_view url);

}  // namespace benchfleet
