#include "coordinator/plan/problem_finder.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "coordinator/plan/utf8.h"

namespace benchfleet {

std::string Quoted(absl::string_view text) {
  constexpr size_t kMostBytes = 100;
  size_t end = 0;
  while (end < text.size() && end < kMostBytes) {
    const size_t length = DecodeUtf8(text, end).length;
    if (length == 0) break;
    end += length;
  }
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, end)),
                      end < text.size() ? "..." : "", "\"");
}

std::string ConfusableKey(absl::string_view name) {
  std::string key;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isspace(byte)) key.push_back(absl::ascii_tolower(byte));
  }
  return key;
}

}  // namespace benchfleet
