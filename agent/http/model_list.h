// The answer of GET /v1/models.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

// Ids of the models. InvalidArgument: `body` is no model list.
absl::StatusOr<std::vector<std::string>> ParseModelIds(absl::string_view body);

}  // namespace benchfleet
