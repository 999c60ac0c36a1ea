#include "coordinator/store/token_blob.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace benchfleet {

void AppendVarint(uint64_t value, std::string* blob) {
  while (value >= 0x80) {
    blob->push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  blob->push_back(static_cast<char>(value));
}

absl::StatusOr<std::vector<uint64_t>> DecodeVarints(absl::string_view blob) {
  std::vector<uint64_t> numbers;
  numbers.reserve(
      static_cast<size_t>(std::count_if(blob.begin(), blob.end(), [](char c) {
        return (static_cast<uint8_t>(c) & 0x80) == 0;
      })));
  uint64_t value = 0;
  int shift = 0;
  for (size_t i = 0; i < blob.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(blob[i]);
    const uint64_t bits = byte & 0x7f;
    if (shift > 63 || (shift == 63 && bits > 1)) {
      return absl::DataLossError(
          absl::StrCat("token blob: number beyond 64 bits at byte ", i));
    }
    value |= bits << shift;
    shift += 7;
    if ((byte & 0x80) == 0) {
      numbers.push_back(value);
      value = 0;
      shift = 0;
    }
  }
  if (shift != 0) {
    return absl::DataLossError(absl::StrCat(
        "token blob: ends inside a number, after ", blob.size(), " bytes"));
  }
  return numbers;
}

}  // namespace benchfleet
