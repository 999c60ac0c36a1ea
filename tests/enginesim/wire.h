// The JSON that each flavour sends, field order included. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/enginesim/generation_request.h"

namespace benchfleet::enginesim {

enum class Flavour { kVllm, kSglang, kLlamacpp };

// "vllm", "sglang" or "llamacpp".
absl::StatusOr<Flavour> ParseFlavour(absl::string_view name);

// A JSON string, with quotes.
std::string JsonString(absl::string_view text);

// What stays the same over one reply.
struct ReplyFacts {
  Flavour flavour = Flavour::kVllm;
  bool chat = false;
  std::string id;
  std::string model;
  int64_t created_s = 0;  // Unix time
  uint32_t prompt_tokens = 0;
  bool include_usage = false;
  bool continuous_usage = false;
};

// What the end of a reply says.
struct ReplyEnd {
  absl::string_view finish_reason;  // "length" or "stop"
  uint32_t output_tokens = 0;
  double prompt_ms = 0;  // llama.cpp's timings
  double output_ms = 0;
};

// Chunks are the JSON of one SSE data event.
// The chunk that opens a chat; empty for completions.
std::string RoleChunk(const ReplyFacts& facts);
// A token. `output_tokens` counts it. `finish_reason` is empty but for the last
// token, and is left out where the flavour says it in a chunk of its own.
std::string ContentChunk(const ReplyFacts& facts, absl::string_view text,
                         uint32_t output_tokens,
                         absl::string_view finish_reason);
// What follows the last token, before [DONE].
std::vector<std::string> EndChunks(const ReplyFacts& facts,
                                   const ReplyEnd& end);
// The body of a reply that is not streamed.
std::string WholeReply(const ReplyFacts& facts, absl::string_view text,
                       const ReplyEnd& end);

}  // namespace benchfleet::enginesim
