#include "tests/enginesim/wire.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace benchfleet::enginesim {
namespace {

constexpr absl::string_view kLlamacppFingerprint = "b7000-enginesim";

std::string FinishJson(absl::string_view finish_reason) {
  return finish_reason.empty() ? "null" : JsonString(finish_reason);
}

std::string UsageJson(const ReplyFacts& facts, uint32_t output_tokens,
                      bool whole) {
  const uint32_t total = facts.prompt_tokens + output_tokens;
  if (facts.flavour == Flavour::kLlamacpp)
    return absl::StrCat("{\"completion_tokens\":", output_tokens,
                        ",\"prompt_tokens\":", facts.prompt_tokens,
                        ",\"total_tokens\":", total,
                        ",\"prompt_tokens_details\":{\"cached_tokens\":0}}");
  const absl::string_view tail =
      facts.flavour == Flavour::kSglang
          ? ",\"prompt_tokens_details\":null,\"reasoning_tokens\":0}"
      : whole ? ",\"prompt_tokens_details\":null}"
              : "}";
  return absl::StrCat("{\"prompt_tokens\":", facts.prompt_tokens,
                      ",\"total_tokens\":", total,
                      ",\"completion_tokens\":", output_tokens, tail);
}

// A chunk around its choices, with `usage` as the flavour places it.
std::string Chunk(const ReplyFacts& facts, absl::string_view choices,
                  absl::string_view usage) {
  const absl::string_view object =
      facts.chat ? "chat.completion.chunk" : "text_completion";
  if (facts.flavour == Flavour::kLlamacpp)
    return absl::StrCat(
        "{\"choices\":[", choices, "],\"created\":", facts.created_s,
        ",\"id\":", JsonString(facts.id),
        ",\"model\":", JsonString(facts.model), ",\"system_fingerprint\":\"",
        kLlamacppFingerprint, "\",\"object\":\"", object, "\"", usage, "}");
  const std::string head =
      absl::StrCat("{\"id\":", JsonString(facts.id), ",\"object\":\"", object,
                   "\",\"created\":", facts.created_s);
  const std::string model =
      absl::StrCat(",\"model\":", JsonString(facts.model));
  // SGLang's completions name the model after the choices.
  if (facts.flavour == Flavour::kSglang && !facts.chat)
    return absl::StrCat(head, ",\"choices\":[", choices, "]", model, usage,
                        "}");
  return absl::StrCat(head, model, ",\"choices\":[", choices, "]", usage, "}");
}

// The usage field of a chunk that is not the last.
std::string RunningUsage(const ReplyFacts& facts, uint32_t output_tokens) {
  if (facts.flavour == Flavour::kLlamacpp) return "";
  if (facts.include_usage && facts.continuous_usage)
    return absl::StrCat(",\"usage\":", UsageJson(facts, output_tokens, false));
  // vLLM's chat leaves unset fields out.
  if (facts.flavour == Flavour::kVllm && facts.chat) return "";
  return ",\"usage\":null";
}

std::string VllmChoice(const ReplyFacts& facts, absl::string_view text,
                       absl::string_view finish_reason) {
  if (!facts.chat)
    return absl::StrCat("{\"index\":0,\"text\":", JsonString(text),
                        ",\"logprobs\":null,\"finish_reason\":",
                        FinishJson(finish_reason), ",\"stop_reason\":null}");
  return absl::StrCat(
      "{\"index\":0,\"delta\":{\"content\":", JsonString(text),
      "},\"logprobs\":null,\"finish_reason\":", FinishJson(finish_reason),
      finish_reason.empty() ? "}" : ",\"stop_reason\":null}");
}

std::string SglangChatChoice(absl::string_view role, absl::string_view content,
                             absl::string_view finish_reason) {
  return absl::StrCat("{\"index\":0,\"delta\":{\"role\":", role,
                      ",\"content\":", content,
                      ",\"reasoning_content\":null,\"tool_calls\":null},"
                      "\"logprobs\":null,\"finish_reason\":",
                      FinishJson(finish_reason), ",\"matched_stop\":null}");
}

std::string SglangChoice(const ReplyFacts& facts, absl::string_view text,
                         absl::string_view finish_reason) {
  if (facts.chat) return SglangChatChoice("null", JsonString(text), "");
  return absl::StrCat("{\"index\":0,\"text\":", JsonString(text),
                      ",\"logprobs\":null,\"finish_reason\":",
                      FinishJson(finish_reason), ",\"matched_stop\":null}");
}

std::string LlamacppChoice(const ReplyFacts& facts, absl::string_view text) {
  if (facts.chat)
    return absl::StrCat(
        "{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":",
        JsonString(text), "}}");
  return absl::StrCat("{\"text\":", JsonString(text),
                      ",\"index\":0,\"logprobs\":null,\"finish_reason\":null}");
}

std::string LlamacppTimings(const ReplyFacts& facts, const ReplyEnd& end) {
  const auto per_second = [](uint32_t n, double ms) {
    return ms > 0 ? 1000 * n / ms : 0;
  };
  return absl::StrFormat(
      ",\"timings\":{\"cache_n\":0,\"prompt_n\":%u,\"prompt_ms\":%.3f,"
      "\"prompt_per_second\":%.3f,\"predicted_n\":%u,\"predicted_ms\":%.3f,"
      "\"predicted_per_second\":%.3f}",
      facts.prompt_tokens, end.prompt_ms,
      per_second(facts.prompt_tokens, end.prompt_ms), end.output_tokens,
      end.output_ms, per_second(end.output_tokens, end.output_ms));
}

// llama.cpp: a chunk that is no token ends the text; a completion's bears the
// usage, a chat sends it apart if asked for.
std::vector<std::string> LlamacppEnd(const ReplyFacts& facts,
                                     const ReplyEnd& end) {
  const std::string usage =
      absl::StrCat(",\"usage\":", UsageJson(facts, end.output_tokens, false));
  const std::string timings = LlamacppTimings(facts, end);
  const std::string finish = FinishJson(end.finish_reason);
  if (!facts.chat)
    return {Chunk(facts,
                  absl::StrCat("{\"text\":\"\",\"index\":0,\"logprobs\":null,"
                               "\"finish_reason\":",
                               finish, "}"),
                  usage + timings)};
  const std::string choice =
      absl::StrCat("{\"finish_reason\":", finish, ",\"index\":0,\"delta\":{}}");
  if (!facts.include_usage) return {Chunk(facts, choice, timings)};
  return {Chunk(facts, choice, ""), Chunk(facts, "", usage + timings)};
}

std::string WholeMessage(Flavour flavour, absl::string_view text) {
  const std::string content =
      absl::StrCat("{\"role\":\"assistant\",\"content\":", JsonString(text));
  switch (flavour) {
    case Flavour::kVllm:
      return absl::StrCat(content,
                          ",\"refusal\":null,\"annotations\":null,"
                          "\"audio\":null,\"function_call\":null,"
                          "\"tool_calls\":[],\"reasoning\":null}");
    case Flavour::kSglang:
      return absl::StrCat(content,
                          ",\"reasoning_content\":null,\"tool_calls\":null}");
    case Flavour::kLlamacpp:
      break;
  }
  return absl::StrCat(content, "}");
}

std::string WholeChoice(const ReplyFacts& facts, absl::string_view text,
                        absl::string_view finish_reason) {
  const std::string body =
      facts.chat
          ? absl::StrCat("\"message\":", WholeMessage(facts.flavour, text))
          : absl::StrCat("\"text\":", JsonString(text));
  const std::string finish = FinishJson(finish_reason);
  if (facts.flavour == Flavour::kLlamacpp)
    return facts.chat ? absl::StrCat("{\"finish_reason\":", finish,
                                     ",\"index\":0,", body, "}")
                      : absl::StrCat("{", body,
                                     ",\"index\":0,\"logprobs\":null,"
                                     "\"finish_reason\":",
                                     finish, "}");
  return absl::StrCat(
      "{\"index\":0,", body, ",\"logprobs\":null,\"finish_reason\":", finish,
      facts.flavour == Flavour::kVllm ? ",\"stop_reason\":null}"
                                      : ",\"matched_stop\":null}");
}

}  // namespace

absl::StatusOr<Flavour> ParseFlavour(absl::string_view name) {
  if (name == "vllm") return Flavour::kVllm;
  if (name == "sglang") return Flavour::kSglang;
  if (name == "llamacpp") return Flavour::kLlamacpp;
  return absl::InvalidArgumentError(absl::StrCat(
      "--flavour is vllm, sglang or llamacpp, not \"", name, "\""));
}

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string RoleChunk(const ReplyFacts& facts) {
  if (!facts.chat) return "";
  const std::string usage = RunningUsage(facts, 0);
  switch (facts.flavour) {
    case Flavour::kVllm:
      return Chunk(facts,
                   "{\"index\":0,\"delta\":{\"role\":\"assistant\","
                   "\"content\":\"\"},\"logprobs\":null,"
                   "\"finish_reason\":null}",
                   usage);
    case Flavour::kSglang:
      return Chunk(facts, SglangChatChoice("\"assistant\"", "\"\"", ""), usage);
    case Flavour::kLlamacpp:
      break;
  }
  return Chunk(facts,
               "{\"finish_reason\":null,\"index\":0,\"delta\":"
               "{\"role\":\"assistant\",\"content\":null}}",
               usage);
}

std::string ContentChunk(const ReplyFacts& facts, absl::string_view text,
                         uint32_t output_tokens,
                         absl::string_view finish_reason) {
  const std::string usage = RunningUsage(facts, output_tokens);
  switch (facts.flavour) {
    case Flavour::kVllm:
      return Chunk(facts, VllmChoice(facts, text, finish_reason), usage);
    case Flavour::kSglang:
      return Chunk(facts, SglangChoice(facts, text, finish_reason), usage);
    case Flavour::kLlamacpp:
      break;
  }
  return Chunk(facts, LlamacppChoice(facts, text), usage);
}

std::vector<std::string> EndChunks(const ReplyFacts& facts,
                                   const ReplyEnd& end) {
  if (facts.flavour == Flavour::kLlamacpp) return LlamacppEnd(facts, end);
  std::vector<std::string> chunks;
  if (facts.flavour == Flavour::kSglang && facts.chat)
    chunks.push_back(Chunk(facts,
                           SglangChatChoice("null", "null", end.finish_reason),
                           ",\"usage\":null"));
  if (facts.include_usage)
    chunks.push_back(
        Chunk(facts, "",
              absl::StrCat(",\"usage\":",
                           UsageJson(facts, end.output_tokens, false))));
  return chunks;
}

std::string WholeReply(const ReplyFacts& facts, absl::string_view text,
                       const ReplyEnd& end) {
  const absl::string_view object =
      facts.chat ? "chat.completion" : "text_completion";
  const std::string choice = WholeChoice(facts, text, end.finish_reason);
  const std::string usage = UsageJson(facts, end.output_tokens, true);
  if (facts.flavour == Flavour::kLlamacpp)
    return absl::StrCat(
        "{\"choices\":[", choice, "],\"created\":", facts.created_s,
        ",\"model\":", JsonString(facts.model), ",\"system_fingerprint\":\"",
        kLlamacppFingerprint, "\",\"object\":\"", object,
        "\",\"usage\":", usage, ",\"id\":", JsonString(facts.id),
        LlamacppTimings(facts, end), "}");
  return absl::StrCat("{\"id\":", JsonString(facts.id), ",\"object\":\"",
                      object, "\",\"created\":", facts.created_s,
                      ",\"model\":", JsonString(facts.model), ",\"choices\":[",
                      choice, "],\"usage\":", usage, "}");
}

}  // namespace benchfleet::enginesim
