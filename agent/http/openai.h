// Requests to engines with the OpenAI API: bodies, headers and paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchfleet/v1/fleet.pb.h"

namespace benchfleet {

bool IsChat(const v1::ShareSpec& share);

// "/v1/completions" or "/v1/chat/completions".
absl::string_view EndpointPath(const v1::ShareSpec& share);

// What connection_reuse says, or what its kind of server needs.
bool ReusesConnections(const v1::Engine& engine);

// JSON body of one streaming request with exactly `share.output_tokens` asked.
// At CHAT the prompt is the one user message.
std::string CompletionBody(const v1::ShareSpec& share,
                           absl::string_view prompt);
// REQUIRES: not CHAT, whose messages take no ids.
std::string CompletionBody(const v1::ShareSpec& share,
                           absl::Span<const uint32_t> prompt_ids);

// "Name: value" lines: content type, key (none if empty), then the suite's.
std::vector<std::string> RequestHeaders(const v1::ShareSpec& share,
                                        absl::string_view key);

// `text` as a JSON string with its quotes. Valid UTF-8 stays as it is.
void AppendJsonString(absl::string_view text, std::string* out);

}  // namespace benchfleet
