// How each flavour refuses. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/enginesim/wire.h"

namespace benchfleet::enginesim {

struct WireError {
  int status = 500;
  std::string body;  // JSON
};

WireError BadJsonError(Flavour flavour, absl::string_view detail);
WireError BadRequestError(Flavour flavour, absl::string_view message);
// The prompt, or the prompt with what was asked for, is beyond the window.
WireError TooLongError(Flavour flavour, uint32_t context_window,
                       uint32_t prompt_tokens, uint32_t output_tokens);
WireError UnknownModelError(Flavour flavour, absl::string_view model);
WireError NoSuchPathError(Flavour flavour);
WireError InternalError(Flavour flavour);

// The JSON of the SSE data event that ends a stream with an error.
std::string StreamErrorEvent(Flavour flavour);

}  // namespace benchfleet::enginesim
