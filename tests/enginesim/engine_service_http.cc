// The half of EngineService that reads requests and answers those that need no
// engine time.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/sha256.h"
#include "tests/enginesim/engine_service.h"

namespace benchfleet::enginesim {
namespace {

constexpr absl::string_view kJson = "application/json";
constexpr absl::string_view kHtmlPage =
    "<!DOCTYPE html><html><body><h1>It works!</h1></body></html>\n";
// Without max_tokens a completion gets this many.
constexpr uint32_t kDefaultMaxTokens = 16;

bool IsGenerationPath(absl::string_view path) {
  return path == "/v1/completions" || path == "/v1/chat/completions";
}

}  // namespace

void EngineService::Reply(uint64_t connection, const HttpRequest& request,
                          int status, absl::string_view content_type,
                          absl::string_view body) {
  sink_.Send(connection, HttpReply(options_.flavour, status, content_type, body,
                                   request.keep_alive));
  sink_.Finish(connection, request.keep_alive);
}

void EngineService::Refuse(uint64_t connection, int status) {
  sink_.Send(connection, HttpReply(options_.flavour, status, "text/plain",
                                   "Invalid HTTP request received.", false));
  sink_.Finish(connection, false);
}

bool EngineService::Fail(uint64_t connection, const HttpRequest& request,
                         Fault fault) {
  switch (fault) {
    case Fault::kHttp500: {
      const WireError error = InternalError(options_.flavour);
      Reply(connection, request, error.status, kJson, error.body);
      return true;
    }
    case Fault::kHttp404: {
      const WireError error = NoSuchPathError(options_.flavour);
      Reply(connection, request, error.status, kJson, error.body);
      return true;
    }
    case Fault::kHtml:
      Reply(connection, request, 200, "text/html", kHtmlPage);
      return true;
    default:
      return false;
  }
}

void EngineService::Handle(uint64_t connection, const HttpRequest& request,
                           Instant arrival) {
  if (Fail(connection, request, options_.refuse_all)) return;
  if (request.method == "POST") {
    HandlePost(connection, request, arrival);
  } else if (request.method == "GET") {
    HandleGet(connection, request);
  } else {
    Reply(connection, request, 405, kJson,
          "{\"detail\":\"Method Not Allowed\"}");
  }
}

void EngineService::HandleGet(uint64_t connection, const HttpRequest& request) {
  const absl::string_view path = request.Path();
  if (path == "/v1/models") {
    if (!Fail(connection, request, options_.refuse_models))
      Reply(connection, request, 200, kJson,
            ModelsBody(options_.flavour, Facts()));
    return;
  }
  if (path == "/health" ||
      (path == "/health_generate" && options_.flavour == Flavour::kSglang))
    return Reply(connection, request, 200, kJson, HealthBody(options_.flavour));
  if (path == "/metrics")
    return Reply(connection, request, 200, "text/plain; version=0.0.4",
                 MetricsBody(options_.flavour, Facts(), Gauges()));
  for (absl::string_view version : VersionPaths(options_.flavour))
    if (path == version)
      return Reply(connection, request, 200, kJson,
                   VersionBody(options_.flavour, Facts()));
  const WireError error = NoSuchPathError(options_.flavour);
  Reply(connection, request, error.status, kJson, error.body);
}

void EngineService::HandlePost(uint64_t connection, const HttpRequest& request,
                               Instant arrival) {
  const absl::string_view path = request.Path();
  if (IsGenerationPath(path))
    return HandleGeneration(connection, request, arrival);
  if (path == "/tokenize" ||
      (path == "/v1/tokenize" && options_.flavour == Flavour::kSglang))
    return HandleTokenize(connection, request);
  const WireError error = NoSuchPathError(options_.flavour);
  Reply(connection, request, error.status, kJson, error.body);
}

void EngineService::HandleTokenize(uint64_t connection,
                                   const HttpRequest& request) {
  const auto parsed = ParseTokenizeRequest(request.body);
  if (parsed.ok())
    return Reply(connection, request, 200, kJson,
                 TokenizeBody(options_.flavour, Facts(), parsed->tokens));
  const WireError error =
      absl::IsDataLoss(parsed.status())
          ? BadJsonError(options_.flavour, parsed.status().message())
          : BadRequestError(options_.flavour, parsed.status().message());
  Reply(connection, request, error.status, kJson, error.body);
}

bool EngineService::Check(const HttpRequest& http, bool chat,
                          GenerationRequest& request, WireError& error) const {
  const Flavour flavour = options_.flavour;
  auto parsed = ParseGenerationRequest(http.body, chat);
  if (!parsed.ok()) {
    error = absl::IsDataLoss(parsed.status())
                ? BadJsonError(flavour, parsed.status().message())
                : BadRequestError(flavour, parsed.status().message());
    return false;
  }
  request = *std::move(parsed);
  if (!request.model.empty() && request.model != options_.model) {
    error = UnknownModelError(flavour, request.model);
    return false;
  }
  // llama.cpp takes any prompt that fits and stops at the window's end.
  const uint32_t window = options_.profile.context_window;
  const uint32_t asked =
      flavour == Flavour::kLlamacpp ? 1 : request.max_tokens.value_or(1);
  if (uint64_t{request.prompt_tokens} + asked > window) {
    error = TooLongError(flavour, window, request.prompt_tokens,
                         request.max_tokens.value_or(0));
    return false;
  }
  return true;
}

void EngineService::HandleGeneration(uint64_t connection,
                                     const HttpRequest& request,
                                     Instant arrival) {
  Generation generation;
  generation.connection = connection;
  generation.keep_alive = request.keep_alive;
  Truth& truth = generation.truth;
  truth.n = ++arrivals_;
  truth.path = std::string(request.Path());
  truth.body_hash = Sha256Hex(request.body).substr(0, 16);
  truth.arrival_ns = arrival.ns;
  truth.open = open_.size() + 1;
  truth.status = 200;
  if (const absl::string_view id = request.Header("x-request-id"); !id.empty())
    truth.id = std::string(id);

  const bool faulty =
      options_.fail_every != 0 && truth.n % options_.fail_every == 0;
  if (faulty && Fail(connection, request, options_.fail_kind)) {
    truth.done_ns = clock_.Now().ns;
    truth.status = options_.fail_kind == Fault::kHttp500   ? 500
                   : options_.fail_kind == Fault::kHttp404 ? 404
                                                           : 200;
    truth.end = options_.fail_kind == Fault::kHttp500   ? "fault_http500"
                : options_.fail_kind == Fault::kHttp404 ? "fault_http404"
                                                        : "fault_html";
    return truth_.Write(truth);
  }
  GenerationRequest asked;
  WireError error;
  if (!Check(request, absl::StartsWith(truth.path, "/v1/chat/"), asked,
             error)) {
    truth.done_ns = clock_.Now().ns;
    truth.status = error.status;
    truth.end = "refused";
    Reply(connection, request, error.status, kJson, error.body);
    return truth_.Write(truth);
  }
  if (faulty) generation.fault = options_.fail_kind;
  Begin(std::move(generation), asked, request);
}

std::string EngineService::ReplyId(const HttpRequest& http, bool chat) {
  const std::string random =
      absl::StrFormat("%016x%016x", random_.Next(), random_.Next());
  switch (options_.flavour) {
    case Flavour::kVllm: {
      const absl::string_view given = http.Header("x-request-id");
      return absl::StrCat(chat ? "chatcmpl-" : "cmpl-",
                          given.empty() ? random : given);
    }
    case Flavour::kSglang:
      return random;
    case Flavour::kLlamacpp:
      break;
  }
  return absl::StrCat("chatcmpl-", random);
}

// An end of the text comes at a seeded place, unless it is to be ignored.
void EngineService::ChooseLength(const GenerationRequest& request,
                                 Generation& generation) {
  const uint32_t room = options_.profile.context_window - request.prompt_tokens;
  const bool bounded = !request.chat && options_.flavour != Flavour::kLlamacpp;
  const uint32_t most = std::min(
      request.max_tokens.value_or(bounded ? kDefaultMaxTokens : room), room);
  const uint32_t least =
      std::min(std::max(request.min_tokens, uint32_t{1}), most);
  // Drawn either way, so that the draws of later requests stay the same.
  const uint32_t natural =
      least + static_cast<uint32_t>(random_.Below(most - least + 1));
  generation.output_tokens = request.ignore_eos ? most : natural;
  generation.finish_reason =
      generation.output_tokens == most ? "length" : "stop";
}

void EngineService::Begin(Generation generation,
                          const GenerationRequest& request,
                          const HttpRequest& http) {
  ChooseLength(request, generation);
  generation.stream = request.stream;
  generation.truth.prompt_tokens = request.prompt_tokens;
  generation.truth.token_ns.reserve(generation.output_tokens);
  generation.reply = std::make_unique<ReplyStream>(
      ReplyFacts{.flavour = options_.flavour,
                 .chat = request.chat,
                 .id = ReplyId(http, request.chat),
                 .model = options_.model,
                 .created_s = absl::ToUnixSeconds(clock_.WallNow()),
                 .prompt_tokens = request.prompt_tokens,
                 .include_usage = request.include_usage,
                 .continuous_usage = request.continuous_usage});
  prompt_tokens_ += request.prompt_tokens;
  const uint64_t id = generation.truth.n;
  // vLLM answers the head at once; the others with the first token.
  if (generation.stream && options_.flavour == Flavour::kVllm) {
    sink_.Send(generation.connection,
               StreamHead(options_.flavour, generation.keep_alive));
    generation.head_sent = true;
  }
  model_.Add({id, request.prompt_tokens, generation.output_tokens,
              ModelNs({generation.truth.arrival_ns})});
  by_connection_[generation.connection] = id;
  open_.emplace(id, std::move(generation));
}

EngineFacts EngineService::Facts() const {
  return {options_.model, options_.profile.context_window,
          options_.profile.max_running_requests, started_s_};
}

EngineGauges EngineService::Gauges() const {
  return {model_.running(), model_.waiting(), prompt_tokens_,
          generated_tokens_};
}

}  // namespace benchfleet::enginesim
