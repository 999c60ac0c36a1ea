#include "coordinator/plan/suite_parser.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/plan/field_places.h"
#include "coordinator/plan/message_reader.h"
#include "coordinator/plan/suite_check.h"
#include "coordinator/plan/utf8.h"

namespace benchfleet {
namespace {

constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// Calls bad(place, byte) at the first such byte of each line.
template <typename IsBad, typename OnBad>
void ForEachBadLine(absl::string_view text, IsBad is_bad_at, OnBad on_bad) {
  Place place{1, 1};
  bool reported = false;
  for (size_t at = 0; at < text.size();) {
    const size_t length = DecodeUtf8(text, at).length;
    if (!reported && is_bad_at(at, length)) {
      on_bad(place, static_cast<unsigned char>(text[at]));
      reported = true;
    }
    const bool lone_return =
        text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n');
    if (text[at] == '\n' || lone_return) {
      place = {place.line + 1, 1};
      reported = false;
    } else {
      ++place.column;
    }
    at += length == 0 ? 1 : length;
  }
}

// Says whether the text is worth reading.
bool CheckText(absl::string_view text, ProblemList& problems) {
  if (text.size() > kMaxSuiteBytes) {
    problems.Add({}, "",
                 absl::StrCat("is ", text.size(),
                              " bytes long; a suite has at "
                              "most ",
                              kMaxSuiteBytes, " (1 MiB)"));
    return false;
  }
  if (absl::StrContains(text, '\0')) {
    bool first = true;
    ForEachBadLine(
        text, [text](size_t at, size_t) { return text[at] == '\0'; },
        [&](Place place, unsigned char) {
          if (!std::exchange(first, false)) return;
          problems.Add(place, "",
                       "holds a NUL byte, so it is no text file in UTF-8");
        });
    return false;
  }
  ForEachBadLine(
      text, [](size_t, size_t length) { return length == 0; },
      [&problems](Place place, unsigned char byte) {
        problems.Add(place, "",
                     absl::StrFormat("byte 0x%02X is not UTF-8; save the file "
                                     "as UTF-8 (is it Latin-1?)",
                                     byte));
      });
  return true;
}

}  // namespace

ParsedSuite ParseSuite(absl::string_view text) {
  ParsedSuite parsed;
  ProblemList problems;
  if (absl::StartsWith(text, kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  if (CheckText(text, problems)) {
    FieldPlaces places;
    ReadMessage(text, parsed.suite, places, problems);
    CheckSuite(parsed.suite, places, problems);
  }
  parsed.problems = std::move(problems).Take();
  return parsed;
}

}  // namespace benchfleet
