// Tokens of protobuf text format, each with its place. Of what the format
// allows, only octal numbers are left to later refusal; nothing that people
// use is missing.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/plan/problem.h"

namespace benchfleet {

enum class TokenKind {
  kIdentifier,  // name, VLLM, true, inf
  kNumber,      // starts with a digit, or '.' and a digit; not yet checked
  kString,      // with its quotes
  kSymbol,      // one character
  kBad,         // already reported
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // As written; points into the text.
  absl::string_view text;
  Place place;
};

// Never fails: what is no token becomes one kBad and a problem. The last token
// is kEnd. The text must outlive the tokens.
std::vector<Token> Tokenize(absl::string_view text, ProblemList& problems);

// The value of a kString token. False, and a problem at the offending place,
// if an escape is wrong or the value is no UTF-8 text.
bool DecodeString(const Token& token, std::string& value,
                  ProblemList& problems);

}  // namespace benchfleet
