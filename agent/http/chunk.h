// One event of an OpenAI-style stream: what its JSON says about tokens.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace benchfleet {

// The numbers of a `usage` object that is not null.
struct UsageNumbers {
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> completion_tokens;
  std::optional<uint64_t> total_tokens;
  // One of them was no count (negative, a fraction, text).
  bool absurd = false;

  // The parts do not add up.
  bool Contradictory() const;
};

struct ChunkFacts {
  // `choices` is not empty.
  bool has_choice = false;
  // Some choice carries generated output: text, content, reasoning, a refusal
  // or a tool call that is not empty.
  bool has_output = false;
  // Some choice carries such a field as an empty string.
  bool has_empty_output = false;
  // Some choice has a finish_reason; "" is none.
  bool finished = false;
  // Progress of the prompt (llama.cpp), no output.
  bool prompt_progress = false;
  std::optional<UsageNumbers> usage;
  // An error instead of, or besides, output: `error`, `"object":"error"`, a
  // bare `detail`.
  bool is_error = false;
};

// False: `json` is not one whole JSON object; the facts are those up to there.
// Bad UTF-8 and lone surrogates in strings are taken as they are.
bool ParseChunk(absl::string_view json, ChunkFacts* facts);

enum class ChunkRole {
  kNone,     // no token
  kContent,  // a content chunk
  // A finish without output: a token only if the usage says so in the end.
  kEnd,
};

// By METRICS.md. `output_begun`: a content chunk came before.
ChunkRole RoleOf(const ChunkFacts& facts, bool chat, bool output_begun);

}  // namespace benchfleet
