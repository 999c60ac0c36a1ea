#include "agent/load/prompt.h"

#include <array>

#include "absl/strings/string_view.h"
#include "common/random.h"

namespace benchfleet {
namespace {

// Plain words that byte-pair vocabularies hold whole with a blank before them.
constexpr std::array<absl::string_view, 128> kWords = {
    "time",     "year",      "people",     "way",         "day",
    "man",      "thing",     "woman",      "life",        "child",
    "world",    "school",    "state",      "family",      "student",
    "group",    "country",   "problem",    "hand",        "part",
    "place",    "case",      "week",       "company",     "system",
    "program",  "question",  "work",       "government",  "number",
    "night",    "point",     "home",       "water",       "room",
    "mother",   "area",      "money",      "story",       "fact",
    "month",    "lot",       "right",      "study",       "book",
    "eye",      "job",       "word",       "business",    "issue",
    "side",     "kind",      "head",       "house",       "service",
    "friend",   "father",    "power",      "hour",        "game",
    "line",     "end",       "member",     "law",         "car",
    "city",     "community", "name",       "president",   "team",
    "minute",   "idea",      "kid",        "body",        "information",
    "back",     "parent",    "face",       "others",      "level",
    "office",   "door",      "health",     "person",      "art",
    "war",      "history",   "party",      "result",      "change",
    "morning",  "reason",    "research",   "girl",        "guy",
    "moment",   "air",       "teacher",    "force",       "education",
    "foot",     "boy",       "age",        "policy",      "music",
    "market",   "sense",     "nation",     "plan",        "college",
    "interest", "death",     "experience", "effect",      "use",
    "class",    "control",   "field",      "development", "role",
    "effort",   "rate",      "heart",      "drug",        "show",
    "leader",   "light",     "voice"};

// Above the special and byte tokens, below the end of small vocabularies.
constexpr uint32_t kFirstId = 1'000;
constexpr uint32_t kIdRange = 20'000;

}  // namespace

std::string TextPrompt(uint64_t seed, uint32_t ordinal, uint32_t tokens) {
  Random random(DeriveSeed({seed, ordinal}));
  std::string text;
  text.reserve(size_t{tokens} * 7);
  for (uint32_t i = 0; i < tokens; ++i) {
    if (i > 0) text += ' ';
    const absl::string_view word = kWords[random.Below(kWords.size())];
    text.append(word.data(), word.size());
  }
  return text;
}

std::vector<uint32_t> TokenIdPrompt(uint64_t seed, uint32_t ordinal,
                                    uint32_t tokens) {
  Random random(DeriveSeed({seed, ordinal}));
  std::vector<uint32_t> ids(tokens);
  for (uint32_t& id : ids) {
    id = kFirstId + static_cast<uint32_t>(random.Below(kIdRange));
  }
  return ids;
}

}  // namespace benchfleet
