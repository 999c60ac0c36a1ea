// What is made sure of before a share may start: the key is there, the engine
// answers and serves the model, the host has room for the connections.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/http/http_transport.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"

namespace benchfleet {

// A refusal in the words of the protocol.
struct Refusal {
  v1::ShareRefused::Reason reason = v1::ShareRefused::REASON_UNSPECIFIED;
  std::string message;

  bool refused() const {
    return reason != v1::ShareRefused::REASON_UNSPECIFIED;
  }
};

// The engine's API key from the agent's environment or file; empty if none is
// asked for. Errors name the variable or file, never its content.
absl::StatusOr<std::string> ReadApiKey(const v1::Engine& engine);

// Asks GET /v1/models for the share's model, then opens connections for all of
// its slots if they can be used again. Texts of the engine are cut, made valid UTF-8 and have `api_key`
// masked. Ends soon after `given_up` is true, whatever the engine does.
Refusal CheckEngine(const v1::ShareSpec& share,
                    const std::vector<std::string>& headers,
                    const std::string& api_key, HttpTransport& transport,
                    const Clock& clock, const std::function<bool()>& given_up);

// Open files for `concurrency` connections, beside what the agent needs.
Refusal CheckOpenFiles(uint32_t concurrency);

}  // namespace benchfleet
