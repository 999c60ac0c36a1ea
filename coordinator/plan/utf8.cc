#include "coordinator/plan/utf8.h"

namespace benchfleet {

Utf8Char DecodeUtf8(absl::string_view text, size_t at) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xf0   ? 4
                        : first >= 0xe0 ? 3
                        : first >= 0xc0 ? 2
                                        : 0;
  if (length == 0 || first > 0xf4 || length > text.size() - at) return {};
  uint32_t code_point = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code_point = (code_point << 6) | (byte(at + i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < kSmallest[length] || code_point > 0x10ffff || surrogate) {
    return {};
  }
  return {code_point, length};
}

bool IsUtf8(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = DecodeUtf8(text, at).length;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

}  // namespace benchfleet
