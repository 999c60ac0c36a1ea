// HttpTransport over libcurl: HTTP/1.1, kept-alive connections, one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/http/http_transport.h"
#include "common/clock.h"

namespace benchfleet {

struct CurlTransportOptions {
  // PEM file of certificate authorities; "": the system's.
  std::string ca_file;
  bool insecure_skip_verify = false;
  // Else each request opens a connection of its own, for servers that close
  // theirs after an answer without saying so.
  bool reuse_connections = true;
  // Idle connections that are kept. At least the concurrency, else connections
  // are closed and opened again in every round.
  size_t max_connections = 1024;
  // Of ResolveTarget: names that are looked up no more.
  std::vector<std::string> pinned;
};

// `clock` must be the real one (the kernel's timers are) and outlive the
// transport. Proxies of the environment are never used, redirects not followed,
// bodies not decompressed, cookies not kept.
absl::StatusOr<std::unique_ptr<HttpTransport>> MakeCurlTransport(
    const CurlTransportOptions& options, const Clock& clock);

// Looks the host of `url` up, once. Empty for an address. UNAVAILABLE: not
// found.
absl::StatusOr<std::vector<std::string>> ResolveTarget(absl::string_view url);

}  // namespace benchfleet
