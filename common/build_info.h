// What this binary is.
#pragma once

#include <cstdint>

namespace benchfleet {

extern const char* const kVersion;
// The commit it was built from, "-dirty" if changed since.
extern const char* const kBuildId;

// Peers with another major refuse each other.
inline constexpr uint32_t kProtocolMajor = 1;
inline constexpr uint32_t kProtocolMinor = 0;

}  // namespace benchfleet
