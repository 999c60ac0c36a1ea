#include "agent/http/model_list.h"

#include <simdjson.h>

namespace benchfleet {

absl::StatusOr<std::vector<std::string>> ParseModelIds(absl::string_view body) {
  const absl::Status no_list =
      absl::InvalidArgumentError("the answer is no model list");
  if (body.empty()) return no_list;  // simdjson copies from null
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(body.data(), body.size()).get(root)) return no_list;
  simdjson::dom::array models;
  if (root["data"].get(models)) return no_list;
  std::vector<std::string> ids;
  for (const simdjson::dom::element model : models) {
    std::string_view id;
    if (model["id"].get(id)) return no_list;
    ids.emplace_back(id);
  }
  return ids;
}

}  // namespace benchfleet
