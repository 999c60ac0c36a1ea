// Typed reading of JSON objects that collects every problem with its path,
// such as "rows[3].duration: expected a number, found a string".
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace benchfleet {

// Bounded: beyond a number of problems only counts them.
class JsonProblems {
 public:
  void Add(absl::string_view path, absl::string_view what);
  bool empty() const { return count_ == 0; }
  std::string Text() const;  // a line each

 private:
  std::vector<std::string> problems_;
  size_t count_ = 0;
};

// One object. Getters return a zero value after adding a problem.
class JsonFields {
 public:
  // REQUIRES: `problems` outlives this.
  JsonFields(simdjson::dom::element element, std::string path,
             JsonProblems* problems);

  std::string Text(absl::string_view key);
  uint32_t Uint32(absl::string_view key);
  // 0 or more.
  int64_t Count(absl::string_view key);
  // Finite and not negative; null is absent.
  std::optional<double> Figure(absl::string_view key);
  std::vector<simdjson::dom::element> Array(absl::string_view key);
  JsonFields Object(absl::string_view key);
  // Adds a problem for each key that is not in `keys` and for repeated keys.
  void AllowOnly(absl::Span<const absl::string_view> keys);

  std::string PathOf(absl::string_view key) const;

 private:
  std::optional<simdjson::dom::element> Find(absl::string_view key);
  void Expected(absl::string_view key, absl::string_view what,
                simdjson::dom::element found);

  std::optional<simdjson::dom::object> object_;
  std::string path_;
  JsonProblems* problems_;
};

}  // namespace benchfleet
