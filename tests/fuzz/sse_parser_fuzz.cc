// The event stream parser against a plain reading of the standard, and against
// itself on other cuts of the same bytes.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/http/sse_parser.h"
#include "tests/fuzz/fuzz_check.h"

namespace benchfleet {
namespace {

std::string TextOf(const SseEvent& event) {
  return absl::StrCat(event.name, "|", event.data, "|", event.error,
                      event.has_error_field ? "!" : "");
}

std::vector<std::string> Parse(const std::vector<absl::string_view>& pieces) {
  SseParser parser;
  SseEvent event;
  std::vector<std::string> events;
  for (absl::string_view piece : pieces) {
    // A copy of its own, so that a view kept too long is found.
    const std::vector<char> bytes(piece.begin(), piece.end());
    parser.Push({bytes.data(), bytes.size()});
    while (parser.Next(&event)) events.push_back(TextOf(event));
  }
  events.push_back(absl::StrCat(parser.saw_field(), parser.saw_comment()));
  if (parser.Unfinished(&event)) events.push_back(TextOf(event));
  FUZZ_CHECK(!parser.overflowed());
  return events;
}

// Whole lines only; what stands after the last line end is left out.
std::vector<absl::string_view> Lines(absl::string_view text) {
  if (absl::StartsWith(text, "\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<absl::string_view> lines;
  for (size_t at; (at = text.find_first_of("\r\n")) != text.npos;) {
    lines.push_back(text.substr(0, at));
    text.remove_prefix(absl::StartsWith(text.substr(at), "\r\n") ? at + 2
                                                                 : at + 1);
  }
  return lines;
}

// The standard word for word, and our two: field `error`, and `event: error`
// without data.
std::vector<std::string> ReadPlainly(absl::string_view text) {
  std::vector<std::string> events;
  std::string name, data, error;
  bool has_data = false, has_error = false;
  for (absl::string_view line : Lines(text)) {
    if (line.empty()) {
      if (has_data) data.pop_back();  // its last LF
      if (has_data || has_error || name == "error") {
        events.push_back(
            absl::StrCat(name, "|", data, "|", error, has_error ? "!" : ""));
      }
      name = data = error = "";
      has_data = has_error = false;
      continue;
    }
    const size_t colon = line.find(':');
    const absl::string_view field = line.substr(0, colon);
    absl::string_view value =
        colon == line.npos ? absl::string_view() : line.substr(colon + 1);
    if (absl::StartsWith(value, " ")) value.remove_prefix(1);
    if (field == "data") {
      has_data = true;
      absl::StrAppend(&data, value, "\n");
    } else if (field == "event") {
      name = std::string(value);
    } else if (field == "error") {
      has_error = true;
      error = std::string(value);
    }
  }
  return events;
}

void Test(absl::string_view text) {
  const uint8_t seed = TakeByte(&text);
  std::vector<std::string> whole = Parse({text});
  FUZZ_CHECK(Parse(Pieces(text, seed)) == whole);
  const std::vector<std::string> plain = ReadPlainly(text);
  FUZZ_CHECK(plain.size() < whole.size());
  whole.resize(plain.size());
  FUZZ_CHECK(plain == whole);
}

}  // namespace
}  // namespace benchfleet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  benchfleet::Test(benchfleet::AsText(data, size));
  return 0;
}
