#include "agent/load/prompt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace benchfleet {
namespace {

TEST(PromptTest, TextHasOneWordPerToken) {
  for (uint32_t tokens : {1u, 2u, 128u, 4096u}) {
    const std::string text = TextPrompt(1, 0, tokens);
    EXPECT_EQ(std::count(text.begin(), text.end(), ' ') + 1, tokens);
  }
}

TEST(PromptTest, PromptsDependOnSeedAndOrdinalOnly) {
  EXPECT_EQ(TextPrompt(1, 5, 64), TextPrompt(1, 5, 64));
  EXPECT_EQ(TokenIdPrompt(1, 5, 64), TokenIdPrompt(1, 5, 64));
  std::set<std::string> texts;
  std::set<std::vector<uint32_t>> ids;
  for (uint32_t ordinal = 0; ordinal < 512; ++ordinal) {
    for (uint64_t seed : {1u, 2u}) {
      texts.insert(TextPrompt(seed, ordinal, 16));
      ids.insert(TokenIdPrompt(seed, ordinal, 16));
    }
  }
  EXPECT_EQ(texts.size(), 1024u);
  EXPECT_EQ(ids.size(), 1024u);
}

// The sequence is part of the product: a changed one makes runs of two
// releases measure different requests.
TEST(PromptTest, TheFirstPromptIsFixed) {
  EXPECT_EQ(TextPrompt(1, 0, 4), "force moment place experience");
}

}  // namespace
}  // namespace benchfleet
