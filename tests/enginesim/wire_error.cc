#include "tests/enginesim/wire_error.h"

#include "absl/strings/str_cat.h"

namespace benchfleet::enginesim {
namespace {

// vLLM nests, SGLang is flat, llama.cpp nests in its own order.
WireError Error(Flavour flavour, int status, absl::string_view type,
                absl::string_view message, absl::string_view param = "null",
                absl::string_view extra = "") {
  switch (flavour) {
    case Flavour::kVllm:
      return {status,
              absl::StrCat("{\"error\":{\"message\":", JsonString(message),
                           ",\"type\":\"", type, "\",\"param\":", param,
                           ",\"code\":", status, "}}")};
    case Flavour::kSglang:
      return {status,
              absl::StrCat("{\"object\":\"error\",\"message\":",
                           JsonString(message), ",\"type\":\"", type,
                           "\",\"param\":", param, ",\"code\":", status, "}")};
    case Flavour::kLlamacpp:
      break;
  }
  return {status, absl::StrCat("{\"error\":{\"code\":", status,
                               ",\"message\":", JsonString(message),
                               ",\"type\":\"", type, "\"", extra, "}}")};
}

}  // namespace

WireError BadJsonError(Flavour flavour, absl::string_view detail) {
  switch (flavour) {
    case Flavour::kVllm:
      return Error(flavour, 400, "Bad Request",
                   absl::StrCat("[{'type': 'json_invalid', 'loc': ('body', 0), "
                                "'msg': 'JSON decode error', 'input': {}, "
                                "'ctx': {'error': '",
                                detail, "'}}]"));
    case Flavour::kSglang:
      return Error(flavour, 400, "Bad Request",
                   absl::StrCat("JSON decode error: ", detail));
    case Flavour::kLlamacpp:
      break;
  }
  return Error(flavour, 400, "invalid_request_error",
               absl::StrCat("[json.exception.parse_error.101] ", detail));
}

WireError BadRequestError(Flavour flavour, absl::string_view message) {
  return Error(flavour, 400,
               flavour == Flavour::kLlamacpp ? "invalid_request_error"
                                             : "BadRequestError",
               message);
}

WireError TooLongError(Flavour flavour, uint32_t context_window,
                       uint32_t prompt_tokens, uint32_t output_tokens) {
  const uint64_t total = uint64_t{prompt_tokens} + output_tokens;
  switch (flavour) {
    case Flavour::kVllm:
      return Error(
          flavour, 400, "BadRequestError",
          absl::StrCat("This model's maximum context length is ",
                       context_window, " tokens. However, you requested ",
                       total, " tokens (", prompt_tokens, " in the messages, ",
                       output_tokens,
                       " in the completion). Please reduce the length of the "
                       "messages or completion."));
    case Flavour::kSglang:
      if (prompt_tokens >= context_window)
        return Error(
            flavour, 400, "BadRequestError",
            absl::StrCat("The input (", prompt_tokens,
                         " tokens) is longer than the model's context length (",
                         context_window, " tokens)."));
      return Error(
          flavour, 400, "BadRequestError",
          absl::StrCat("Requested token count exceeds the model's maximum "
                       "context length of ",
                       context_window, " tokens. You requested a total of ",
                       total, " tokens: ", prompt_tokens,
                       " tokens from the input messages and ", output_tokens,
                       " tokens for the completion. Please reduce the number "
                       "of tokens in the input messages or the completion to "
                       "fit within the limit."));
    case Flavour::kLlamacpp:
      break;
  }
  return Error(flavour, 400, "exceed_context_size_error",
               absl::StrCat("request (", prompt_tokens,
                            " tokens) exceeds the available context size (",
                            context_window, " tokens), try increasing it"),
               "null",
               absl::StrCat(",\"n_prompt_tokens\":", prompt_tokens,
                            ",\"n_ctx\":", context_window));
}

WireError UnknownModelError(Flavour flavour, absl::string_view model) {
  switch (flavour) {
    case Flavour::kVllm:
      return Error(flavour, 404, "NotFoundError",
                   absl::StrCat("The model `", model, "` does not exist."),
                   "\"model\"");
    case Flavour::kSglang:
      return Error(flavour, 404, "NotFoundError",
                   absl::StrCat("The model '", model, "' does not exist"),
                   "\"model\"");
    case Flavour::kLlamacpp:
      break;
  }
  return Error(flavour, 404, "not_found_error",
               absl::StrCat("model '", model, "' not found"));
}

WireError NoSuchPathError(Flavour flavour) {
  if (flavour == Flavour::kLlamacpp)
    return Error(flavour, 404, "not_found_error", "File Not Found");
  return {404, "{\"detail\":\"Not Found\"}"};
}

WireError InternalError(Flavour flavour) {
  return Error(
      flavour, 500,
      flavour == Flavour::kLlamacpp ? "server_error" : "InternalServerError",
      "simulated internal error");
}

std::string StreamErrorEvent(Flavour flavour) {
  if (flavour == Flavour::kSglang)
    return absl::StrCat("{\"error\":", InternalError(flavour).body, "}");
  return InternalError(flavour).body;
}

}  // namespace benchfleet::enginesim
