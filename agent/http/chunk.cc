#include "agent/http/chunk.h"

#include "absl/strings/numbers.h"
#include "agent/http/json_scanner.h"

namespace benchfleet {
namespace {

using Kind = JsonScanner::Kind;

bool IsEmptyContainer(absl::string_view raw) {
  for (char c : raw.substr(1, raw.size() - 2)) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return false;
  }
  return true;
}

void ReadOutput(JsonScanner& json, ChunkFacts* facts) {
  switch (json.Peek()) {
    case Kind::kString:
      if (json.String().empty()) {
        facts->has_empty_output = true;
      } else {
        facts->has_output = true;
      }
      return;
    case Kind::kObject:
    case Kind::kArray: {
      const absl::string_view raw = json.Skip();
      if (json.ok() && !IsEmptyContainer(raw)) facts->has_output = true;
      return;
    }
    default:
      json.Skip();
  }
}

bool IsOutput(absl::string_view key) {
  return key == "content" || key == "reasoning_content" || key == "reasoning" ||
         key == "refusal" || key == "tool_calls" || key == "function_call";
}

void ReadDelta(JsonScanner& json, ChunkFacts* facts) {
  if (json.Peek() != Kind::kObject) {
    json.Skip();
    return;
  }
  absl::string_view key;
  for (json.EnterObject(); json.NextMember(&key);) {
    if (IsOutput(key)) {
      ReadOutput(json, facts);
    } else {
      json.Skip();
    }
  }
}

void ReadFinish(JsonScanner& json, ChunkFacts* facts) {
  const Kind kind = json.Peek();
  const absl::string_view raw = json.Skip();
  // Some servers give an object with a type.
  if ((kind == Kind::kString && raw != "\"\"") || kind == Kind::kObject) {
    facts->finished = true;
  }
}

void ReadChoice(JsonScanner& json, ChunkFacts* facts) {
  facts->has_choice = true;
  if (json.Peek() != Kind::kObject) {
    json.Skip();
    return;
  }
  absl::string_view key;
  for (json.EnterObject(); json.NextMember(&key);) {
    if (key == "text") {
      ReadOutput(json, facts);
    } else if (key == "delta" || key == "message") {
      ReadDelta(json, facts);
    } else if (key == "finish_reason") {
      ReadFinish(json, facts);
    } else {
      json.Skip();
    }
  }
}

void ReadChoices(JsonScanner& json, ChunkFacts* facts) {
  if (json.Peek() != Kind::kArray) {
    json.Skip();
    return;
  }
  for (json.EnterArray(); json.NextElement();) ReadChoice(json, facts);
}

std::optional<uint64_t> ReadCount(JsonScanner& json, UsageNumbers* usage) {
  const Kind kind = json.Peek();
  const absl::string_view raw = json.Skip();
  if (kind == Kind::kNull) return std::nullopt;
  // Not above 2^53, beyond which JSON numbers are not exact.
  uint64_t count;
  if (kind == Kind::kNumber && absl::SimpleAtoi(raw, &count) &&
      count <= (uint64_t{1} << 53)) {
    return count;
  }
  double number;
  if (kind == Kind::kNumber && absl::SimpleAtod(raw, &number) && number >= 0 &&
      number <= 9007199254740992.0 &&
      number == static_cast<double>(static_cast<uint64_t>(number))) {
    return static_cast<uint64_t>(number);
  }
  usage->absurd = true;
  return std::nullopt;
}

void ReadUsage(JsonScanner& json, ChunkFacts* facts) {
  if (json.Peek() != Kind::kObject) {
    json.Skip();
    return;
  }
  UsageNumbers usage;
  absl::string_view key;
  for (json.EnterObject(); json.NextMember(&key);) {
    if (key == "prompt_tokens") {
      usage.prompt_tokens = ReadCount(json, &usage);
    } else if (key == "completion_tokens") {
      usage.completion_tokens = ReadCount(json, &usage);
    } else if (key == "total_tokens") {
      usage.total_tokens = ReadCount(json, &usage);
    } else {
      json.Skip();
    }
  }
  // An empty object says as much as null.
  if (usage.prompt_tokens || usage.completion_tokens || usage.total_tokens ||
      usage.absurd) {
    facts->usage = usage;
  }
}

// True if the value says something: not null, false, "".
bool ReadSaysSomething(JsonScanner& json) {
  const Kind kind = json.Peek();
  const absl::string_view raw = json.Skip();
  return kind != Kind::kNull && kind != Kind::kFalse && raw != "\"\"";
}

}  // namespace

bool UsageNumbers::Contradictory() const {
  return absurd || (prompt_tokens && completion_tokens && total_tokens &&
                    *total_tokens != *prompt_tokens + *completion_tokens);
}

bool ParseChunk(absl::string_view text, ChunkFacts* facts) {
  *facts = ChunkFacts();
  JsonScanner json(text);
  bool has_choices_key = false;
  bool detail = false;
  absl::string_view key;
  for (json.EnterObject(); json.NextMember(&key);) {
    if (key == "choices") {
      has_choices_key = true;
      ReadChoices(json, facts);
    } else if (key == "usage") {
      ReadUsage(json, facts);
    } else if (key == "error") {
      if (ReadSaysSomething(json)) facts->is_error = true;
    } else if (key == "object") {
      if (json.Skip() == "\"error\"") facts->is_error = true;
    } else if (key == "detail") {
      detail = ReadSaysSomething(json);
    } else if (key == "prompt_progress") {
      facts->prompt_progress = ReadSaysSomething(json);
    } else {
      json.Skip();
    }
  }
  if (detail && !has_choices_key) facts->is_error = true;
  return json.AtEnd();
}

ChunkRole RoleOf(const ChunkFacts& facts, bool chat, bool output_begun) {
  if (!facts.has_choice) return ChunkRole::kNone;
  if (facts.has_output) return ChunkRole::kContent;
  if (facts.finished) return ChunkRole::kEnd;
  if (facts.prompt_progress) return ChunkRole::kNone;
  if (!chat) return ChunkRole::kContent;
  return facts.has_empty_output && output_begun ? ChunkRole::kContent
                                                : ChunkRole::kNone;
}

}  // namespace benchfleet
