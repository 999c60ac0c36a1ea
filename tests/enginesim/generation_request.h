// What a client asks for, read from a JSON body. The only place that knows the
// JSON library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace benchfleet::enginesim {

// Whitespace separates words, a word is a token.
uint32_t CountTokens(absl::string_view text);
// A stable id for each word.
std::vector<uint32_t> TokenIds(absl::string_view text);

// What the chat template of every flavour adds: per message, and at the end
// to open the answer.
inline constexpr uint32_t kTokensPerMessage = 4;
inline constexpr uint32_t kTokensPerChat = 3;

struct GenerationRequest {
  bool chat = false;
  std::string model;  // empty if not given
  uint32_t prompt_tokens = 0;
  absl::optional<uint32_t> max_tokens;
  uint32_t min_tokens = 0;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;
};

// DataLoss: not JSON at all. InvalidArgument: JSON that makes no request.
absl::StatusOr<GenerationRequest> ParseGenerationRequest(absl::string_view body,
                                                         bool chat);

struct TokenizeRequest {
  std::string model;
  std::vector<uint32_t> tokens;
};
// Takes "prompt" (vLLM, SGLang) and "content" (llama.cpp). Errors as above.
absl::StatusOr<TokenizeRequest> ParseTokenizeRequest(absl::string_view body);

}  // namespace benchfleet::enginesim
