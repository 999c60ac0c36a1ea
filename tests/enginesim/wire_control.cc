#include "tests/enginesim/wire_control.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/build_info.h"

namespace benchfleet::enginesim {
namespace {

struct Metric {
  const char* type;
  const char* name;
  uint64_t value;
};

std::vector<Metric> Metrics(Flavour flavour, const EngineGauges& gauges) {
  switch (flavour) {
    case Flavour::kVllm:
      return {
          {"gauge", "vllm:num_requests_running", gauges.running},
          {"gauge", "vllm:num_requests_waiting", gauges.waiting},
          {"counter", "vllm:prompt_tokens_total", gauges.prompt_tokens},
          {"counter", "vllm:generation_tokens_total", gauges.generated_tokens},
          {"counter", "vllm:prefix_cache_queries_total", gauges.prompt_tokens},
          {"counter", "vllm:prefix_cache_hits_total", 0},
          {"counter", "vllm:num_preemptions_total", 0}};
    case Flavour::kSglang:
      return {{"gauge", "sglang:num_running_reqs", gauges.running},
              {"gauge", "sglang:num_queue_reqs", gauges.waiting},
              {"counter", "sglang:prompt_tokens_total", gauges.prompt_tokens},
              {"counter", "sglang:generation_tokens_total",
               gauges.generated_tokens},
              {"counter", "sglang:cached_tokens_total", 0},
              {"gauge", "sglang:cache_hit_rate", 0},
              {"gauge", "sglang:num_retracted_reqs", 0}};
    case Flavour::kLlamacpp:
      break;
  }
  return {
      {"gauge", "llamacpp:requests_processing", gauges.running},
      {"gauge", "llamacpp:requests_deferred", gauges.waiting},
      {"counter", "llamacpp:prompt_tokens_total", gauges.prompt_tokens},
      {"counter", "llamacpp:tokens_predicted_total", gauges.generated_tokens}};
}

// A label value of the Prometheus text format.
std::string Label(absl::string_view value) {
  std::string out;
  for (char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string ModelsBody(Flavour flavour, const EngineFacts& facts) {
  const std::string id = JsonString(facts.model);
  switch (flavour) {
    case Flavour::kVllm:
      return absl::StrCat("{\"object\":\"list\",\"data\":[{\"id\":", id,
                          ",\"object\":\"model\",\"created\":", facts.started_s,
                          ",\"owned_by\":\"vllm\",\"root\":", id,
                          ",\"parent\":null,\"max_model_len\":",
                          facts.context_window, ",\"permission\":[]}]}");
    case Flavour::kSglang:
      return absl::StrCat(
          "{\"object\":\"list\",\"data\":[{\"id\":", id,
          ",\"object\":\"model\",\"created\":", facts.started_s,
          ",\"owned_by\":\"sglang\",\"root\":", id,
          ",\"parent\":null,\"max_model_len\":", facts.context_window, "}]}");
    case Flavour::kLlamacpp:
      break;
  }
  return absl::StrCat("{\"object\":\"list\",\"data\":[{\"id\":", id,
                      ",\"object\":\"model\",\"created\":", facts.started_s,
                      ",\"owned_by\":\"llamacpp\",\"meta\":{\"vocab_type\":1,"
                      "\"n_vocab\":100100,\"n_ctx_train\":",
                      facts.context_window, "}}]}");
}

std::string TokenizeBody(Flavour flavour, const EngineFacts& facts,
                         const std::vector<uint32_t>& tokens) {
  const std::string list = absl::StrJoin(tokens, ",");
  switch (flavour) {
    case Flavour::kVllm:
      return absl::StrCat("{\"count\":", tokens.size(),
                          ",\"max_model_len\":", facts.context_window,
                          ",\"tokens\":[", list, "],\"token_strs\":null}");
    case Flavour::kSglang:
      return absl::StrCat("{\"tokens\":[", list, "],\"count\":", tokens.size(),
                          ",\"max_model_len\":", facts.context_window, "}");
    case Flavour::kLlamacpp:
      break;
  }
  return absl::StrCat("{\"tokens\":[", list, "]}");
}

std::string HealthBody(Flavour flavour) {
  return flavour == Flavour::kLlamacpp ? "{\"status\":\"ok\"}" : "";
}

std::vector<absl::string_view> VersionPaths(Flavour flavour) {
  switch (flavour) {
    case Flavour::kVllm:
      return {"/version"};
    case Flavour::kSglang:
      return {"/server_info", "/get_server_info"};
    case Flavour::kLlamacpp:
      break;
  }
  return {"/props"};
}

std::string VersionBody(Flavour flavour, const EngineFacts& facts) {
  const std::string version = JsonString(absl::StrCat("enginesim-", kVersion));
  switch (flavour) {
    case Flavour::kVllm:
      return absl::StrCat("{\"version\":", version, "}");
    case Flavour::kSglang:
      return absl::StrCat(
          "{\"model_path\":", JsonString(facts.model),
          ",\"context_length\":", facts.context_window,
          ",\"max_running_requests\":", facts.max_running_requests,
          ",\"version\":", version, "}");
    case Flavour::kLlamacpp:
      break;
  }
  return absl::StrCat(
      "{\"default_generation_settings\":{\"n_ctx\":", facts.context_window,
      "},\"total_slots\":", facts.max_running_requests,
      ",\"model_path\":", JsonString(facts.model), ",\"build_info\":", version,
      "}");
}

std::string MetricsBody(Flavour flavour, const EngineFacts& facts,
                        const EngineGauges& gauges) {
  std::string labels;
  if (flavour == Flavour::kVllm)
    labels =
        absl::StrCat("{engine=\"0\",model_name=\"", Label(facts.model), "\"}");
  if (flavour == Flavour::kSglang)
    labels = absl::StrCat("{model_name=\"", Label(facts.model), "\"}");
  std::string text;
  for (const Metric& metric : Metrics(flavour, gauges))
    absl::StrAppend(&text, "# HELP ", metric.name, " of the simulated engine\n",
                    "# TYPE ", metric.name, " ", metric.type, "\n", metric.name,
                    labels, " ", metric.value, ".0\n");
  return text;
}

}  // namespace benchfleet::enginesim
