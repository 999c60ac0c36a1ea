// Text that came from elsewhere, made fit to be stored and shown.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace benchfleet {

// Bounds of an excerpt of an answer, and of a whole message, in bytes.
inline constexpr size_t kExcerptBytes = 200;
inline constexpr size_t kErrorBytes = 500;

// `text` with each occurrence of `secret` as `[key]`, also as JSON may escape
// it, and also when the text was cut inside it.
std::string MaskSecret(absl::string_view text, absl::string_view secret);

// Valid UTF-8 of at most `max_bytes`: what is not valid becomes U+FFFD, runs of
// blanks and control characters one blank. "..." where it was cut.
std::string CleanText(absl::string_view text, size_t max_bytes);

// Both, in the order that leaves no part of the secret at the cut. For that
// `text` should reach past `max_bytes` by the length of the secret.
std::string Excerpt(absl::string_view text, absl::string_view secret,
                    size_t max_bytes = kExcerptBytes);

}  // namespace benchfleet
