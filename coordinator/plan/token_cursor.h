// A walk over the tokens of protobuf text format.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/plan/text_lexer.h"

namespace benchfleet {

// Is it one of these characters?
bool IsSymbol(const Token& token, absl::string_view any_of);
bool IsBlockEnd(const Token& token);
// For messages: quoted and cut short. A text is not shown, it may be secret.
std::string Shown(const Token& token);

// The last token, kEnd, is never passed.
class TokenCursor {
 public:
  // Not empty, as from Tokenize.
  explicit TokenCursor(std::vector<Token> tokens)
      : tokens_(std::move(tokens)) {}

  // Stays valid while the cursor lives.
  const Token& Current() const { return tokens_[at_]; }
  bool AtEnd() const { return Current().kind == TokenKind::kEnd; }
  void Step() {
    if (!AtEnd()) ++at_;
  }
  // Steps over one of these characters.
  bool Accept(absl::string_view any_of);
  // Is this the name of a field, and no stray word?
  bool AtField() const;
  bool FirstOnItsLine() const;
  // From an opening bracket to behind its closing one; which kind closes which
  // is not looked at. False: it is never closed, the cursor is at the end.
  bool SkipBrackets();
  // To what looks like the next field, or the end of the block.
  void SkipToField();

 private:
  const std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace benchfleet
