// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace benchfleet {

struct Utf8Char {
  uint32_t code_point = 0;
  size_t length = 0;  // in bytes; 0: the text is not UTF-8 there
};

// The character at text[at]; at < text.size().
Utf8Char DecodeUtf8(absl::string_view text, size_t at);
bool IsUtf8(absl::string_view text);

}  // namespace benchfleet
