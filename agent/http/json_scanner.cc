#include "agent/http/json_scanner.h"

#include <cstddef>

namespace benchfleet {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void JsonScanner::Fail() {
  ok_ = false;
  p_ = end_;
}

void JsonScanner::SkipBlanks() {
  while (p_ != end_ &&
         (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) {
    ++p_;
  }
}

JsonScanner::Kind JsonScanner::Peek() {
  SkipBlanks();
  if (p_ == end_) return Kind::kBroken;
  switch (*p_) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
      return Kind::kTrue;
    case 'f':
      return Kind::kFalse;
    case 'n':
      return Kind::kNull;
    case '-':
    case 'N':  // NaN and Infinity, as Python writes them
    case 'I':
      return Kind::kNumber;
    default:
      return IsDigit(*p_) ? Kind::kNumber : Kind::kBroken;
  }
}

void JsonScanner::Enter(char open) {
  SkipBlanks();
  if (p_ == end_ || *p_ != open) return Fail();
  ++p_;
  first_ = true;
}

bool JsonScanner::NextItem(char close) {
  const bool first = first_;
  first_ = false;
  SkipBlanks();
  if (p_ == end_) {
    Fail();
    return false;
  }
  if (*p_ == close) {
    ++p_;
    return false;
  }
  if (first) return true;
  if (*p_ != ',') {
    Fail();
    return false;
  }
  ++p_;
  return true;
}

bool JsonScanner::NextMember(absl::string_view* key) {
  if (!NextItem('}')) return false;
  *key = String();
  SkipBlanks();
  if (p_ == end_ || *p_ != ':') {
    Fail();
    return false;
  }
  ++p_;
  return true;
}

bool JsonScanner::NextElement() { return NextItem(']'); }

absl::string_view JsonScanner::String() {
  SkipBlanks();
  if (p_ == end_ || *p_ != '"') {
    Fail();
    return {};
  }
  const char* const start = ++p_;
  const char* p = start;
  while (p != end_ && *p != '"') {
    if (*p == '\\' && ++p == end_) break;
    ++p;
  }
  if (p == end_) {
    Fail();
    return {};
  }
  p_ = p + 1;
  return {start, static_cast<size_t>(p - start)};
}

absl::string_view JsonScanner::Skip() {
  SkipBlanks();
  const char* const start = p_;
  SkipValue(0);
  if (!ok_) return {};
  return {start, static_cast<size_t>(p_ - start)};
}

void JsonScanner::SkipValue(int depth) {
  if (depth == kMaxDepth) return Fail();
  absl::string_view key;
  switch (Peek()) {
    case Kind::kObject:
      for (EnterObject(); NextMember(&key);) SkipValue(depth + 1);
      return;
    case Kind::kArray:
      for (EnterArray(); NextElement();) SkipValue(depth + 1);
      return;
    case Kind::kString:
      String();
      return;
    case Kind::kNumber:
      return SkipNumber();
    case Kind::kTrue:
      return SkipWord("true");
    case Kind::kFalse:
      return SkipWord("false");
    case Kind::kNull:
      return SkipWord("null");
    case Kind::kBroken:
      return Fail();
  }
}

void JsonScanner::SkipDigits() {
  if (p_ == end_ || !IsDigit(*p_)) return Fail();
  while (p_ != end_ && IsDigit(*p_)) ++p_;
}

void JsonScanner::SkipNumber() {
  if (*p_ == '-') ++p_;
  if (p_ == end_) return Fail();
  if (*p_ == 'N') return SkipWord("NaN");
  if (*p_ == 'I') return SkipWord("Infinity");
  if (*p_ == '0') {
    ++p_;
  } else {
    SkipDigits();
  }
  if (p_ != end_ && *p_ == '.') {
    ++p_;
    SkipDigits();
  }
  if (p_ != end_ && (*p_ == 'e' || *p_ == 'E')) {
    ++p_;
    if (p_ != end_ && (*p_ == '+' || *p_ == '-')) ++p_;
    SkipDigits();
  }
}

void JsonScanner::SkipWord(absl::string_view word) {
  const absl::string_view left(p_, static_cast<size_t>(end_ - p_));
  if (left.substr(0, word.size()) != word) return Fail();
  p_ += word.size();
}

bool JsonScanner::AtEnd() {
  SkipBlanks();
  return ok_ && p_ == end_;
}

}  // namespace benchfleet
