// JSON text as Python's json.dumps(indent=2, ensure_ascii=False) lays it out,
// or compact on one line. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace benchfleet {

// A JSON string with its quotes; always valid UTF-8.
std::string JsonString(absl::string_view text);

// The caller keeps begin and end in order.
class JsonWriter {
 public:
  enum class Layout { kIndented, kCompact };
  explicit JsonWriter(Layout layout = Layout::kIndented) : layout_(layout) {}

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }
  void Key(absl::string_view key);

  void String(absl::string_view value) { Put(JsonString(value)); }
  void Int(int64_t value);
  void Uint(uint64_t value);
  // Absent, or not finite: null.
  void Double(std::optional<double> value);
  void Bool(bool value) { Put(value ? "true" : "false"); }

  void StringField(absl::string_view key, absl::string_view value) {
    Key(key);
    String(value);
  }
  void IntField(absl::string_view key, int64_t value) {
    Key(key);
    Int(value);
  }
  void UintField(absl::string_view key, uint64_t value) {
    Key(key);
    Uint(value);
  }
  void DoubleField(absl::string_view key, std::optional<double> value) {
    Key(key);
    Double(value);
  }

  std::string Take() { return std::move(text_); }

 private:
  void Begin(char bracket);
  void End(char bracket);
  void Put(absl::string_view value);
  // Comma and line before the next member.
  void Separate();
  void NewLine();

  Layout layout_;
  std::string text_;
  std::vector<bool> empty_;  // of each open bracket
  bool after_key_ = false;
};

}  // namespace benchfleet
