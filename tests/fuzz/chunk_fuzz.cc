// One event's JSON: what simdjson takes, ours takes, with the same facts.
#include <simdjson.h>

#include <optional>

#include "agent/http/chunk.h"
#include "agent/http/json_scanner.h"
#include "tests/fuzz/fuzz_check.h"

namespace benchfleet {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

int Count(object json, std::string_view key) {
  int count = 0;
  for (const auto field : json) count += field.key == key;
  return count;
}

bool HasChoice(object json) {
  simdjson::dom::array choices;
  return !json["choices"].get(choices) && choices.size() > 0;
}

std::optional<uint64_t> CompletionTokens(object json) {
  object usage;
  uint64_t tokens;
  if (Count(json, "usage") != 1 || json["usage"].get(usage) ||
      Count(usage, "completion_tokens") != 1 ||
      usage["completion_tokens"].get_uint64().get(tokens) ||
      tokens > (uint64_t{1} << 53)) {
    return std::nullopt;
  }
  return tokens;
}

// Keys are compared raw by ours: no escapes, then.
void CompareWithSimdjson(absl::string_view text, bool parsed,
                         const ChunkFacts& facts) {
  simdjson::dom::parser parser(size_t{1} << 20);
  if (parser.allocate(text.size() + 1, JsonScanner::kMaxDepth / 2)) return;
  element root;
  object json;
  if (parser.parse(text.data(), text.size()).get(root)) return;
  if (root.get(json)) {
    FUZZ_CHECK(!parsed);
    return;
  }
  FUZZ_CHECK(parsed);
  if (text.find('\\') != text.npos) return;
  if (Count(json, "choices") == 1) {
    FUZZ_CHECK(facts.has_choice == HasChoice(json));
  }
  if (const auto tokens = CompletionTokens(json)) {
    FUZZ_CHECK(facts.usage && facts.usage->completion_tokens == tokens);
  }
}

void Test(absl::string_view text) {
  ChunkFacts facts;
  const bool parsed = ParseChunk(text, &facts);
  for (bool chat : {false, true}) {
    for (bool begun : {false, true}) {
      const ChunkRole role = RoleOf(facts, chat, begun);
      FUZZ_CHECK(role == ChunkRole::kNone || facts.has_choice);
      FUZZ_CHECK(role != ChunkRole::kEnd || facts.finished);
      FUZZ_CHECK(!facts.has_output || role == ChunkRole::kContent);
    }
  }
  if (facts.usage) facts.usage->Contradictory();
  CompareWithSimdjson(text, parsed, facts);
}

}  // namespace
}  // namespace benchfleet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  benchfleet::Test(benchfleet::AsText(data, size));
  return 0;
}
