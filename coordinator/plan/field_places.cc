#include "coordinator/plan/field_places.h"

#include "absl/strings/str_cat.h"

namespace benchfleet {

void FieldPlaces::Record(absl::string_view path, Place place) {
  places_.try_emplace(std::string(path), place);
}

void FieldPlaces::RecordValue(absl::string_view path, Place place) {
  places_.insert_or_assign(std::string(path), place);
}

void FieldPlaces::MarkBroken(absl::string_view path) { broken_.emplace(path); }

void FieldPlaces::MarkMisspelt(absl::string_view path) {
  misspelt_.emplace(path);
}

bool FieldPlaces::Recorded(absl::string_view path) const {
  return places_.contains(path);
}

bool FieldPlaces::Broken(absl::string_view path) const {
  return broken_.contains(path);
}

bool FieldPlaces::Missing(absl::string_view path) const {
  return !Recorded(path) && !Broken(path) && !misspelt_.contains(path) &&
         !Broken(ParentPath(path));
}

Place FieldPlaces::Of(absl::string_view path) const {
  while (!path.empty()) {
    auto found = places_.find(path);
    if (found != places_.end()) return found->second;
    path = ParentPath(path);
  }
  return {};
}

std::string JoinPath(absl::string_view message, absl::string_view field) {
  return message.empty() ? std::string(field)
                         : absl::StrCat(message, ".", field);
}

std::string IndexPath(absl::string_view field, int index) {
  return absl::StrCat(field, "[", index, "]");
}

absl::string_view ParentPath(absl::string_view path) {
  const size_t at = path.find_last_of(".[");
  return at == absl::string_view::npos ? absl::string_view()
                                       : path.substr(0, at);
}

}  // namespace benchfleet
