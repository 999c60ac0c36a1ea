// Where each field of a message stands in the text it was read from.
//
// A path is "name", "engines[0].name", "cases[1].concurrency[2]"; "" is the
// message itself. The place of a scalar is that of its value. A repeated field
// has a place of its own (its first mention) and one per element.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "coordinator/plan/problem.h"

namespace benchfleet {

class FieldPlaces {
 public:
  // Where it is named. Keeps the first place of a path.
  void Record(absl::string_view path, Place place);
  // Where its value is, which from now on is its place.
  void RecordValue(absl::string_view path, Place place);
  // Its value could not be read and that was reported: say no more about it.
  // For a message: parts of it may have been skipped.
  void MarkBroken(absl::string_view path);
  // It was meant under another name, and that was reported.
  void MarkMisspelt(absl::string_view path);

  bool Recorded(absl::string_view path) const;
  bool Broken(absl::string_view path) const;
  // Left out, as far as the text tells.
  bool Missing(absl::string_view path) const;
  // Of the path, else of the nearest message around it.
  Place Of(absl::string_view path) const;

 private:
  absl::flat_hash_map<std::string, Place> places_;
  absl::flat_hash_set<std::string> broken_;
  absl::flat_hash_set<std::string> misspelt_;
};

// "a" + "b" is "a.b"; "" + "b" is "b".
std::string JoinPath(absl::string_view message, absl::string_view field);
std::string IndexPath(absl::string_view field, int index);
// Path of the message around a field, or of the list around an element.
absl::string_view ParentPath(absl::string_view path);

}  // namespace benchfleet
