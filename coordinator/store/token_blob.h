// Lists of numbers as LEB128 varints, the form of token arrivals in the
// database: 7 bits a byte, least significant first, the high bit set on all
// but a number's last byte. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

// Appends one number, at most 10 bytes.
void AppendVarint(uint64_t value, std::string* blob);

// DataLoss: ends inside a number, or a number beyond 64 bits.
absl::StatusOr<std::vector<uint64_t>> DecodeVarints(absl::string_view blob);

}  // namespace benchfleet
