// Invariants of fuzz targets, and how they cut their input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/string_view.h"

// Ends the process, which libFuzzer reports with the input.
#define FUZZ_CHECK(condition)                                              \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)

namespace benchfleet {

inline absl::string_view AsText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the first byte off `text`; 0 if there is none.
inline uint8_t TakeByte(absl::string_view* text) {
  if (text->empty()) return 0;
  const auto byte = static_cast<uint8_t>(text->front());
  text->remove_prefix(1);
  return byte;
}

// `text` in pieces, whose sizes follow from `seed`; some are empty.
inline std::vector<absl::string_view> Pieces(absl::string_view text,
                                             uint8_t seed) {
  const size_t largest = size_t{1} << (seed % 8);
  std::vector<absl::string_view> pieces;
  for (uint32_t state = seed; !text.empty();) {
    state = state * 1664525u + 1013904223u;
    pieces.push_back(text.substr(0, (state >> 16) % (largest + 1)));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

}  // namespace benchfleet
