#include "coordinator/report/json_writer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/report/number_format.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {

std::string JsonString(absl::string_view text) {
  std::string json = "\"";
  for (const char c : CleanUtf8(text)) {
    switch (c) {
      case '"':
        json += "\\\"";
        break;
      case '\\':
        json += "\\\\";
        break;
      case '\n':
        json += "\\n";
        break;
      case '\r':
        json += "\\r";
        break;
      case '\t':
        json += "\\t";
        break;
      case '\f':
        json += "\\f";
        break;
      case '\b':
        json += "\\b";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          absl::StrAppendFormat(&json, "\\u%04x", static_cast<uint8_t>(c));
        } else {
          json += c;
        }
    }
  }
  json += '"';
  return json;
}

void JsonWriter::Key(absl::string_view key) {
  Separate();
  absl::StrAppend(&text_, JsonString(key),
                  layout_ == Layout::kIndented ? ": " : ":");
  after_key_ = true;
}

void JsonWriter::Int(int64_t value) { Put(absl::StrCat(value)); }

void JsonWriter::Uint(uint64_t value) { Put(absl::StrCat(value)); }

void JsonWriter::Double(std::optional<double> value) {
  Put(value && std::isfinite(*value) ? PythonFloat(*value) : "null");
}

void JsonWriter::Begin(char bracket) {
  Separate();
  text_ += bracket;
  empty_.push_back(true);
}

void JsonWriter::End(char bracket) {
  const bool empty = empty_.back();
  empty_.pop_back();
  if (!empty) NewLine();
  text_ += bracket;
}

void JsonWriter::Put(absl::string_view value) {
  Separate();
  absl::StrAppend(&text_, value);
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (empty_.empty()) return;
  if (!empty_.back()) text_ += ',';
  empty_.back() = false;
  NewLine();
}

void JsonWriter::NewLine() {
  if (layout_ == Layout::kCompact) return;
  text_ += '\n';
  text_.append(2 * empty_.size(), ' ');
}

}  // namespace benchfleet
