#include "coordinator/plan/token_cursor.h"

#include "absl/strings/str_cat.h"

namespace benchfleet {

bool IsSymbol(const Token& token, absl::string_view any_of) {
  return token.kind == TokenKind::kSymbol &&
         any_of.find(token.text[0]) != absl::string_view::npos;
}

bool IsBlockEnd(const Token& token) { return IsSymbol(token, "}>"); }

std::string Shown(const Token& token) {
  constexpr size_t kLongest = 40;
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  if (token.kind == TokenKind::kString) return "a text";
  if (token.text.size() <= kLongest) {
    return absl::StrCat("\"", token.text, "\"");
  }
  return absl::StrCat("\"", token.text.substr(0, kLongest), "...\"");
}

bool TokenCursor::Accept(absl::string_view any_of) {
  if (!IsSymbol(Current(), any_of)) return false;
  Step();
  return true;
}

bool TokenCursor::AtField() const {
  return Current().kind == TokenKind::kIdentifier &&
         IsSymbol(tokens_[at_ + 1], ":{<");
}

bool TokenCursor::FirstOnItsLine() const {
  return at_ == 0 || tokens_[at_ - 1].place.line < Current().place.line;
}

bool TokenCursor::SkipBrackets() {
  int depth = 0;
  do {
    if (AtEnd()) return false;
    if (IsSymbol(Current(), "{<[")) ++depth;
    if (IsSymbol(Current(), "}>]")) --depth;
    Step();
  } while (depth > 0);
  return true;
}

void TokenCursor::SkipToField() {
  while (!AtEnd() && !IsBlockEnd(Current())) {
    if (AtField()) return;
    if (Current().kind == TokenKind::kIdentifier && FirstOnItsLine()) return;
    if (IsSymbol(Current(), "{<[")) {
      SkipBrackets();
    } else {
      Step();
    }
  }
}

}  // namespace benchfleet
