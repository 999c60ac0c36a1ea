// What the checks of a suite's parts share: a suite's fields by path.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/plan/field_places.h"
#include "coordinator/plan/problem.h"

namespace benchfleet {

// The checks of one message, such as "engines[0]".
class ProblemFinder {
 public:
  // `label` names it in messages, such as `engine "vllm"`.
  ProblemFinder(const FieldPlaces& places, ProblemList& problems,
                std::string path, std::string label)
      : places_(places),
        problems_(problems),
        path_(std::move(path)),
        label_(std::move(label)) {}

  // `field` may have an index: "concurrency[1]". "": the message itself.
  std::string PathOf(absl::string_view field) const {
    return field.empty() ? path_ : JoinPath(path_, field);
  }
  Place PlaceOf(absl::string_view field) const {
    return places_.Of(PathOf(field));
  }
  bool Given(absl::string_view field) const {
    return places_.Recorded(PathOf(field)) && !places_.Broken(PathOf(field));
  }
  bool Missing(absl::string_view field) const {
    return places_.Missing(PathOf(field));
  }
  // A text that must be there is not.
  bool Lacks(absl::string_view field, absl::string_view value) const {
    return Missing(field) || (Given(field) && value.empty());
  }
  bool Broken(absl::string_view field) const {
    return places_.Broken(PathOf(field));
  }

  // "engine "vllm": <message>", at the field's place.
  void Report(absl::string_view field, absl::string_view message) {
    problems_.Add(PlaceOf(field), PathOf(field),
                  label_.empty() ? std::string(message)
                                 : absl::StrCat(label_, ": ", message));
  }
  // A number that must be given, within [1, largest].
  void CheckNumber(absl::string_view field, uint64_t value, uint64_t largest) {
    if (Missing(field)) {
      Report(field, absl::StrCat("no ", field));
    } else if (Given(field)) {
      CheckRange(field, value, 1, largest);
    }
  }
  void CheckRange(absl::string_view field, uint64_t value, uint64_t smallest,
                  uint64_t largest) {
    if (value < smallest) {
      Report(field, absl::StrCat(field, " must be at least ", smallest,
                                 ", found ", value));
    } else if (value > largest) {
      Report(field, absl::StrCat(field, " must be at most ", largest,
                                 ", found ", value));
    }
  }

 private:
  const FieldPlaces& places_;
  ProblemList& problems_;
  const std::string path_;
  const std::string label_;
};

// A text of the suite for a message: in quotes, escaped, cut short.
std::string Quoted(absl::string_view text);

// Equal for names that a reader, or a file system, takes for the same: ASCII
// letters in lower case, without blanks.
std::string ConfusableKey(absl::string_view name);

}  // namespace benchfleet
