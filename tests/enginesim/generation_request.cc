#include "tests/enginesim/generation_request.h"

#include <simdjson.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace benchfleet::enginesim {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

template <typename F>
void ForEachWord(absl::string_view text, F f) {
  size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() &&
           absl::ascii_isspace(static_cast<unsigned char>(text[i])))
      ++i;
    const size_t start = i;
    while (i < text.size() &&
           !absl::ascii_isspace(static_cast<unsigned char>(text[i])))
      ++i;
    if (i > start) f(text.substr(start, i - start));
  }
}

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

absl::string_view View(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// Absent and null fields leave the target alone.
absl::Status ReadBool(const object& json, const char* key, bool& out) {
  element value;
  if (json[key].get(value) != simdjson::SUCCESS || value.is_null())
    return absl::OkStatus();
  if (value.get(out) != simdjson::SUCCESS)
    return Bad(absl::StrCat(key, " must be a boolean"));
  return absl::OkStatus();
}

absl::Status ReadCount(const object& json, const char* key,
                       absl::optional<uint32_t>& out) {
  element value;
  if (json[key].get(value) != simdjson::SUCCESS || value.is_null())
    return absl::OkStatus();
  int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS)
    return Bad(absl::StrCat(key, " must be an integer"));
  if (number < 0 || number > INT32_MAX)
    return Bad(absl::StrCat(key, " must be at least 0, got ", number, "."));
  out = static_cast<uint32_t>(number);
  return absl::OkStatus();
}

absl::Status ReadString(const object& json, const char* key, std::string& out) {
  element value;
  if (json[key].get(value) != simdjson::SUCCESS || value.is_null())
    return absl::OkStatus();
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS)
    return Bad(absl::StrCat(key, " must be a string"));
  out = std::string(text);
  return absl::OkStatus();
}

// Text, token ids, or a list of exactly one of those.
absl::StatusOr<uint32_t> CountPrompt(element prompt, int depth = 0) {
  std::string_view text;
  if (prompt.get(text) == simdjson::SUCCESS) return CountTokens(View(text));
  simdjson::dom::array list;
  if (prompt.get(list) != simdjson::SUCCESS || depth > 1)
    return Bad("prompt must be a string or a list of token ids");
  uint32_t ids = 0;
  for (element item : list) {
    if (!item.is_int64() && !item.is_uint64()) {
      if (list.size() != 1)
        return Bad("this simulated engine takes one prompt per request");
      return CountPrompt(item, depth + 1);
    }
    ++ids;
  }
  return ids;
}

// A message's content: text, or a list of parts with "text".
uint32_t CountContent(element content) {
  std::string_view text;
  if (content.get(text) == simdjson::SUCCESS) return CountTokens(View(text));
  uint32_t tokens = 0;
  simdjson::dom::array parts;
  if (content.get(parts) != simdjson::SUCCESS) return 0;
  for (element part : parts)
    if (part["text"].get(text) == simdjson::SUCCESS)
      tokens += CountTokens(View(text));
  return tokens;
}

absl::StatusOr<uint32_t> CountMessages(const object& json) {
  simdjson::dom::array messages;
  if (json["messages"].get(messages) != simdjson::SUCCESS ||
      messages.size() == 0)
    return Bad("messages must be a list with at least one message");
  uint32_t tokens = kTokensPerChat;
  for (element message : messages) {
    object fields;
    if (message.get(fields) != simdjson::SUCCESS)
      return Bad("a message must be an object");
    tokens += kTokensPerMessage;
    element content;
    if (fields["content"].get(content) == simdjson::SUCCESS)
      tokens += CountContent(content);
  }
  return tokens;
}

absl::Status ReadOptions(const object& json, GenerationRequest& request) {
  RETURN_IF_ERROR(ReadString(json, "model", request.model));
  RETURN_IF_ERROR(ReadCount(json, "max_tokens", request.max_tokens));
  RETURN_IF_ERROR(ReadCount(json, "max_completion_tokens", request.max_tokens));
  absl::optional<uint32_t> min_tokens;
  RETURN_IF_ERROR(ReadCount(json, "min_tokens", min_tokens));
  request.min_tokens = min_tokens.value_or(0);
  RETURN_IF_ERROR(ReadBool(json, "ignore_eos", request.ignore_eos));
  RETURN_IF_ERROR(ReadBool(json, "stream", request.stream));
  if (request.max_tokens.has_value() && *request.max_tokens == 0)
    return Bad("max_tokens must be at least 1, got 0.");
  if (request.max_tokens.has_value() &&
      request.min_tokens > *request.max_tokens)
    return Bad(absl::StrCat("min_tokens must be less than or equal to ",
                            "max_tokens=", *request.max_tokens, ", got ",
                            request.min_tokens, "."));
  object options;
  if (json["stream_options"].get(options) != simdjson::SUCCESS)
    return absl::OkStatus();
  if (!request.stream)
    return Bad("Stream options can only be defined when `stream=True`.");
  RETURN_IF_ERROR(ReadBool(options, "include_usage", request.include_usage));
  return ReadBool(options, "continuous_usage_stats", request.continuous_usage);
}

absl::StatusOr<object> ParseObject(simdjson::dom::parser& parser,
                                   absl::string_view body) {
  element root;
  if (const simdjson::error_code error =
          parser.parse(body.data(), body.size()).get(root);
      error != simdjson::SUCCESS)
    return absl::DataLossError(simdjson::error_message(error));
  object json;
  if (root.get(json) != simdjson::SUCCESS)
    return Bad("the body must be a JSON object");
  return json;
}

}  // namespace

uint32_t CountTokens(absl::string_view text) {
  uint32_t count = 0;
  ForEachWord(text, [&count](absl::string_view) { ++count; });
  return count;
}

std::vector<uint32_t> TokenIds(absl::string_view text) {
  std::vector<uint32_t> ids;
  ForEachWord(text, [&ids](absl::string_view word) {
    uint32_t hash = 2166136261u;  // FNV-1a
    for (char c : word)
      hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    ids.push_back(100 + hash % 100000);
  });
  return ids;
}

absl::StatusOr<GenerationRequest> ParseGenerationRequest(absl::string_view body,
                                                         bool chat) {
  simdjson::dom::parser parser;
  ASSIGN_OR_RETURN(const object json, ParseObject(parser, body));
  GenerationRequest request;
  request.chat = chat;
  RETURN_IF_ERROR(ReadOptions(json, request));
  if (chat) {
    ASSIGN_OR_RETURN(request.prompt_tokens, CountMessages(json));
    return request;
  }
  element prompt;
  if (json["prompt"].get(prompt) != simdjson::SUCCESS)
    return Bad("prompt is missing");
  ASSIGN_OR_RETURN(request.prompt_tokens, CountPrompt(prompt));
  if (request.prompt_tokens == 0) return Bad("prompt must not be empty");
  return request;
}

absl::StatusOr<TokenizeRequest> ParseTokenizeRequest(absl::string_view body) {
  simdjson::dom::parser parser;
  ASSIGN_OR_RETURN(const object json, ParseObject(parser, body));
  TokenizeRequest request;
  RETURN_IF_ERROR(ReadString(json, "model", request.model));
  std::string_view text;
  if (json["prompt"].get(text) != simdjson::SUCCESS &&
      json["content"].get(text) != simdjson::SUCCESS)
    return Bad("prompt must be a string");
  request.tokens = TokenIds(View(text));
  return request;
}

}  // namespace benchfleet::enginesim
