#include "coordinator/report/json_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr size_t kMostProblems = 20;

absl::string_view TypeName(element value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

// simdjson speaks std::string_view.
std::string_view Std(absl::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

void JsonProblems::Add(absl::string_view path, absl::string_view what) {
  ++count_;
  if (problems_.size() < kMostProblems) {
    problems_.push_back(
        absl::StrCat(OneLine(path, 200), ": ", OneLine(what, 300)));
  }
}

std::string JsonProblems::Text() const {
  std::string text = absl::StrJoin(problems_, "\n");
  if (count_ > problems_.size()) {
    absl::StrAppend(&text, "\nand ", count_ - problems_.size(),
                    " more problems");
  }
  return text;
}

JsonFields::JsonFields(element value, std::string path, JsonProblems* problems)
    : path_(std::move(path)), problems_(problems) {
  simdjson::dom::object object;
  if (value.get(object) == simdjson::SUCCESS) {
    object_ = object;
  } else {
    problems_->Add(path_.empty() ? "the file" : path_,
                   absl::StrCat("expected an object, found ", TypeName(value)));
  }
}

std::string JsonFields::PathOf(absl::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
}

std::optional<element> JsonFields::Find(absl::string_view key) {
  if (!object_) return std::nullopt;
  element value;
  if (object_->at_key(Std(key)).get(value) == simdjson::SUCCESS) return value;
  problems_->Add(PathOf(key), "is missing");
  return std::nullopt;
}

void JsonFields::Expected(absl::string_view key, absl::string_view what,
                          element found) {
  problems_->Add(PathOf(key),
                 absl::StrCat("expected ", what, ", found ", TypeName(found)));
}

std::string JsonFields::Text(absl::string_view key) {
  const std::optional<element> value = Find(key);
  if (!value) return "";
  std::string_view text;
  if (value->get(text) == simdjson::SUCCESS) return std::string(text);
  Expected(key, "a string", *value);
  return "";
}

int64_t JsonFields::Count(absl::string_view key) {
  const std::optional<element> value = Find(key);
  if (!value) return 0;
  int64_t number = 0;
  if (value->is_int64() && value->get(number) == simdjson::SUCCESS &&
      number >= 0) {
    return number;
  }
  if (value->is_number()) {
    problems_->Add(PathOf(key), "expected a whole number from 0");
  } else {
    Expected(key, "a whole number", *value);
  }
  return 0;
}

uint32_t JsonFields::Uint32(absl::string_view key) {
  const int64_t number = Count(key);
  if (number <= UINT32_MAX) return static_cast<uint32_t>(number);
  problems_->Add(PathOf(key), absl::StrCat(number, " is too large"));
  return 0;
}

std::optional<double> JsonFields::Figure(absl::string_view key) {
  const std::optional<element> value = Find(key);
  if (!value || value->is_null()) return std::nullopt;
  double number = 0;
  if (value->get(number) != simdjson::SUCCESS) {
    Expected(key, "a number or null", *value);
    return std::nullopt;
  }
  if (!std::isfinite(number) || std::signbit(number)) {
    problems_->Add(PathOf(key), "expected a figure from 0");
    return std::nullopt;
  }
  return number;
}

std::vector<element> JsonFields::Array(absl::string_view key) {
  const std::optional<element> value = Find(key);
  if (!value) return {};
  simdjson::dom::array array;
  if (value->get(array) != simdjson::SUCCESS) {
    Expected(key, "an array", *value);
    return {};
  }
  return {array.begin(), array.end()};
}

JsonFields JsonFields::Object(absl::string_view key) {
  const std::optional<element> value = Find(key);
  if (value) return JsonFields(*value, PathOf(key), problems_);
  JsonFields missing = *this;
  missing.object_ = std::nullopt;
  missing.path_ = PathOf(key);
  return missing;
}

void JsonFields::AllowOnly(absl::Span<const absl::string_view> keys) {
  if (!object_) return;
  absl::flat_hash_set<std::string> seen;
  for (const simdjson::dom::key_value_pair field : *object_) {
    const std::string key(field.key);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      problems_->Add(PathOf(key), "is no key of this format");
    } else if (!seen.insert(key).second) {
      problems_->Add(PathOf(key), "stands there twice");
    }
  }
}

}  // namespace benchfleet
