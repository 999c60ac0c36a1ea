#include "agent/http/openai.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace benchfleet {
namespace {

// Which field bounds a chat answer. `max_tokens` is old and read by every
// version of the open engines; OpenAI's newer models refuse it.
absl::string_view LimitField(const v1::ShareSpec& share) {
  return IsChat(share) && share.engine().kind() == v1::OPENAI
             ? "max_completion_tokens"
             : "max_tokens";
}

// Fields after the prompt, and the closing brace.
void AppendOptions(const v1::ShareSpec& share, std::string* body) {
  absl::StrAppend(body, ",\"", LimitField(share), "\":", share.output_tokens());
  switch (share.engine().kind()) {
    case v1::VLLM:
    case v1::SGLANG:
      absl::StrAppend(body, ",\"min_tokens\":", share.output_tokens(),
                      ",\"ignore_eos\":true");
      break;
    case v1::LLAMACPP:
      absl::StrAppend(body, ",\"ignore_eos\":true");
      break;
    default:  // strict servers refuse unknown fields
      break;
  }
  absl::StrAppend(body, ",\"temperature\":0,\"stream\":true");
  if (share.include_usage()) {
    absl::StrAppend(body, ",\"stream_options\":{\"include_usage\":true}");
  }
  body->push_back('}');
}

void AppendModel(const v1::ShareSpec& share, std::string* body) {
  absl::StrAppend(body, "{\"model\":");
  AppendJsonString(share.engine().model(), body);
}

}  // namespace

bool IsChat(const v1::ShareSpec& share) { return share.endpoint() == v1::CHAT; }

bool ReusesConnections(const v1::Engine& engine) {
  if (engine.connection_reuse() != v1::CONNECTION_REUSE_UNSPECIFIED) {
    return engine.connection_reuse() == v1::REUSE;
  }
  // llama.cpp's server closes the connection right after a stream, and says
  // Keep-Alive all the same.
  return engine.kind() != v1::LLAMACPP;
}

absl::string_view EndpointPath(const v1::ShareSpec& share) {
  return IsChat(share) ? "/v1/chat/completions" : "/v1/completions";
}

std::string CompletionBody(const v1::ShareSpec& share,
                           absl::string_view prompt) {
  std::string body;
  body.reserve(prompt.size() + prompt.size() / 16 + 300);
  AppendModel(share, &body);
  if (IsChat(share)) {
    absl::StrAppend(&body, ",\"messages\":[{\"role\":\"user\",\"content\":");
    AppendJsonString(prompt, &body);
    absl::StrAppend(&body, "}]");
  } else {
    absl::StrAppend(&body, ",\"prompt\":");
    AppendJsonString(prompt, &body);
  }
  AppendOptions(share, &body);
  return body;
}

std::string CompletionBody(const v1::ShareSpec& share,
                           absl::Span<const uint32_t> prompt_ids) {
  std::string body;
  body.reserve(prompt_ids.size() * 7 + 300);
  AppendModel(share, &body);
  absl::StrAppend(&body, ",\"prompt\":[");
  for (size_t i = 0; i < prompt_ids.size(); ++i) {
    absl::StrAppend(&body, i == 0 ? "" : ",", prompt_ids[i]);
  }
  body.push_back(']');
  AppendOptions(share, &body);
  return body;
}

std::vector<std::string> RequestHeaders(const v1::ShareSpec& share,
                                        absl::string_view key) {
  std::vector<std::string> headers = {"Content-Type: application/json",
                                      "Accept: text/event-stream"};
  if (!key.empty()) {
    headers.push_back(absl::StrCat("Authorization: Bearer ", key));
  }
  for (const std::string& header : share.engine().headers()) {
    headers.push_back(header);
  }
  return headers;
}

void AppendJsonString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

}  // namespace benchfleet
