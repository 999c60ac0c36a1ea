#include "agent/http/error_text.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace benchfleet {
namespace {

constexpr absl::string_view kMask = "[key]";
// A shorter rest at the end of a cut text is taken for chance.
constexpr size_t kShortestCutSecret = 4;

// Length of the valid UTF-8 character at the front; 0 if there is none.
size_t CharacterLength(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned a = byte(0);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return follows(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = a == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = a == 0xED && byte(1) > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const bool overlong = a == 0xF0 && byte(1) < 0x90;
    const bool too_large = a == 0xF4 && byte(1) > 0x8F;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

void MaskOne(std::string& text, absl::string_view secret) {
  absl::StrReplaceAll({{secret, kMask}}, &text);
  for (size_t n = std::min(secret.size() - 1, text.size());
       n >= kShortestCutSecret; --n) {
    if (!absl::EndsWith(text, secret.substr(0, n))) continue;
    text.replace(text.size() - n, n, kMask.data(), kMask.size());
    return;
  }
}

}  // namespace

std::string MaskSecret(absl::string_view text, absl::string_view secret) {
  std::string masked(text);
  if (secret.empty()) return masked;
  MaskOne(masked, secret);
  const std::string escaped = absl::StrReplaceAll(
      secret, {{"\\", "\\\\"}, {"\"", "\\\""}, {"/", "\\/"}});
  if (escaped != secret) MaskOne(masked, escaped);
  return masked;
}

std::string CleanText(absl::string_view text, size_t max_bytes) {
  constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";
  constexpr absl::string_view kMore = "...";
  std::string clean;
  size_t cut = 0;  // the end of a character that leaves room for kMore
  while (!text.empty() && clean.size() <= max_bytes) {
    const size_t length = CharacterLength(text);
    absl::string_view piece = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(piece.size());
    if (length == 0) piece = kReplacement;
    const auto first = static_cast<unsigned char>(piece.front());
    if (first <= 0x20 || first == 0x7F) {
      if (clean.empty() || clean.back() == ' ') continue;
      piece = " ";
    }
    clean.append(piece.data(), piece.size());
    if (clean.size() + kMore.size() <= max_bytes) cut = clean.size();
  }
  if (clean.size() > max_bytes) {
    clean.resize(cut);
    clean.append(kMore.data(), kMore.size());
  } else if (!clean.empty() && clean.back() == ' ') {
    clean.pop_back();
  }
  return clean;
}

std::string Excerpt(absl::string_view text, absl::string_view secret,
                    size_t max_bytes) {
  return CleanText(MaskSecret(text, secret), max_bytes);
}

}  // namespace benchfleet
