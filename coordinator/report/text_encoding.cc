#include "coordinator/report/text_encoding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace benchfleet {
namespace {

constexpr absl::string_view kReplacement = "\xef\xbf\xbd";

struct Sequence {
  size_t size;      // bytes to take, at least 1
  bool wellformed;  // else they are one ill-formed part
};

// Unicode table 3-7: bounds of the second byte after each lead byte.
Sequence SequenceAt(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (text.size() < 2 || byte(1) < low || byte(1) > high) return {1, false};
  for (size_t i = 2; i < size; ++i) {
    if (i >= text.size() || (byte(i) & 0xc0) != 0x80) return {i, false};
  }
  return {size, true};
}

}  // namespace

std::string CleanUtf8(absl::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Sequence next = SequenceAt(text);
    const absl::string_view part =
        next.wellformed ? text.substr(0, next.size) : kReplacement;
    clean.append(part.data(), part.size());
    text.remove_prefix(next.size);
  }
  return clean;
}

std::string OneLine(absl::string_view text, size_t limit) {
  std::string line = CleanUtf8(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }, ' ');
  if (line.size() <= limit) return line;
  size_t cut = limit < 3 ? 0 : limit - 3;
  while (cut > 0 && (static_cast<uint8_t>(line[cut]) & 0xc0) == 0x80) --cut;
  return line.substr(0, cut) + "...";
}

}  // namespace benchfleet
