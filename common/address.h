// HOST:PORT, as operators give it.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

// InvalidArgument, naming `flag`, unless `address` is HOST:PORT with a port of
// 1 to 65535, or 0 if `any_port`; IPv6 hosts in brackets. gRPC itself would
// take much more, and dial or serve something else than what was meant.
absl::Status CheckAddress(absl::string_view flag, absl::string_view address,
                          bool any_port = false);

}  // namespace benchfleet
