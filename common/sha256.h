// SHA-256 by OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace benchfleet {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(absl::string_view data);
// 64 lower-case hex digits.
std::string Sha256Hex(absl::string_view data);

}  // namespace benchfleet
