// Addresses of engines.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // IPv6 addresses without brackets
  uint16_t port = 0;   // the scheme's where none was given
  std::string path;    // "" or "/..."

  bool is_ipv6() const { return host.find(':') != std::string::npos; }
  // "host:port", with brackets where needed.
  std::string Authority() const;
};

// INVALID_ARGUMENT says what is wrong with `url`. No credentials, query or
// fragment.
absl::StatusOr<Url> ParseUrl(absl::string_view url);

// The address of `path` ("/v1/completions", "/health") at a server, whose base
// address may end with /v1 and with slashes, and may bear a path prefix.
absl::StatusOr<std::string> EndpointUrl(absl::string_view base_url,
                                        absl::string_view path);

}  // namespace benchfleet
