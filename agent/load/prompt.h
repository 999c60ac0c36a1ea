// Synthetic prompts: a function of (seed, ordinal, length) and nothing else,
// so that one agent or ten send the same requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace benchfleet {

// `tokens` common English words with blanks between, each one token in the
// usual vocabularies.
std::string TextPrompt(uint64_t seed, uint32_t ordinal, uint32_t tokens);

// `tokens` ids that every usual vocabulary has and that are no special tokens.
std::vector<uint32_t> TokenIdPrompt(uint64_t seed, uint32_t ordinal,
                                    uint32_t tokens);

}  // namespace benchfleet
