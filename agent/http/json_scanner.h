// Pull scanner over one JSON text. Strict about structure, tolerant inside
// strings: engines send lone surrogates and bad UTF-8, for which simdjson
// refuses a whole event. Allocates nothing; hands out views of the text.
#pragma once

#include "absl/strings/string_view.h"

namespace benchfleet {

// After a failure (ok() is false) every call returns at once and loops over
// members and elements end.
//
//   JsonScanner s(text);
//   absl::string_view key;
//   for (s.EnterObject(); s.NextMember(&key);) s.Skip();
//   if (!s.AtEnd()) ...broken...
class JsonScanner {
 public:
  enum class Kind {
    kObject,
    kArray,
    kString,
    kNumber,
    kTrue,
    kFalse,
    kNull,
    kBroken,
  };
  static constexpr int kMaxDepth = 64;

  explicit JsonScanner(absl::string_view text)
      : p_(text.data()), end_(text.data() + text.size()) {}

  // Kind of the value that comes next, by its first character.
  Kind Peek();
  void EnterObject() { Enter('{'); }
  void EnterArray() { Enter('['); }
  // Steps to the next member's value; false at the object's end. The key is
  // raw, as between its quotes.
  bool NextMember(absl::string_view* key);
  bool NextElement();
  // A string value, raw, as between its quotes.
  absl::string_view String();
  // Any value, whole; its raw text.
  absl::string_view Skip();

  bool ok() const { return ok_; }
  // Only blanks are left, and all before was right.
  bool AtEnd();

 private:
  void Fail();
  void SkipBlanks();
  void Enter(char open);
  // True if another one comes; consumes the comma or `close`.
  bool NextItem(char close);
  void SkipValue(int depth);
  void SkipNumber();
  void SkipDigits();
  void SkipWord(absl::string_view word);

  const char* p_;
  const char* end_;
  bool ok_ = true;
  bool first_ = false;
};

}  // namespace benchfleet
