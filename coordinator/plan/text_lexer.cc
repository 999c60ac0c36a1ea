#include "coordinator/plan/text_lexer.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/plan/utf8.h"

namespace benchfleet {
namespace {

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsCurlyQuote(uint32_t code_point) {
  return (code_point >= 0x2018 && code_point <= 0x201f) || code_point == 0xab ||
         code_point == 0xbb;
}

class Lexer {
 public:
  Lexer(absl::string_view text, ProblemList& problems)
      : text_(text), problems_(problems) {}

  std::vector<Token> Run() {
    std::vector<Token> tokens;
    do {
      SkipBlanksAndComments();
      tokens.push_back(Next());
    } while (tokens.back().kind != TokenKind::kEnd);
    if (curly_quotes_ > 0) ReportCurlyQuotes();
    return tokens;
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  char Current() const { return text_[at_]; }
  char Ahead() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  bool AtLineEnd() const {
    return AtEnd() || Current() == '\n' || Current() == '\r';
  }

  void Step() {
    const char c = Current();
    const bool ends_line = c == '\n' || (c == '\r' && Ahead() != '\n');
    if (ends_line) {
      ++place_.line;
      place_.column = 1;
    } else if (c != '\r' && (Ahead() & 0xc0) != 0x80) {
      ++place_.column;  // the next byte starts a character
    }
    ++at_;
  }

  void SkipBlanksAndComments() {
    while (!AtEnd()) {
      if (Current() == '#') {
        while (!AtLineEnd()) Step();
      } else if (absl::ascii_isspace(static_cast<unsigned char>(Current()))) {
        Step();
      } else {
        return;
      }
    }
  }

  Token Make(TokenKind kind, size_t start, Place place) const {
    return {kind, text_.substr(start, at_ - start), place};
  }

  Token Next() {
    const size_t start = at_;
    const Place place = place_;
    if (AtEnd()) return Make(TokenKind::kEnd, start, place);
    const char c = Current();
    if (c == '"' || c == '\'') return String();
    if (IsDigit(c) || (c == '.' && IsDigit(Ahead()))) return Number();
    if (IsNameChar(c)) {
      while (!AtEnd() && IsNameChar(Current())) Step();
      return Make(TokenKind::kIdentifier, start, place);
    }
    if (static_cast<unsigned char>(c) >= 0x80) return Foreign();
    Step();
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) {
      problems_.Add(place, "", absl::StrFormat("control character 0x%02x", c));
      return Make(TokenKind::kBad, start, place);
    }
    return Make(TokenKind::kSymbol, start, place);
  }

  Token Number() {
    const size_t start = at_;
    const Place place = place_;
    const bool hex = Current() == '0' && (Ahead() == 'x' || Ahead() == 'X');
    char last = '\0';
    while (!AtEnd()) {
      const char c = Current();
      const bool exponent_sign =
          !hex && (c == '+' || c == '-') && (last == 'e' || last == 'E');
      if (!IsNameChar(c) && c != '.' && !exponent_sign) break;
      last = c;
      Step();
    }
    return Make(TokenKind::kNumber, start, place);
  }

  Token String() {
    const size_t start = at_;
    const Place place = place_;
    const char quote = Current();
    Step();
    while (!AtLineEnd() && Current() != quote) {
      if (Current() == '\\') Step();
      if (!AtLineEnd()) Step();
    }
    if (AtLineEnd()) {
      problems_.Add(
          place, "",
          absl::StrFormat("text has no closing %c on its line", quote));
      return Make(TokenKind::kBad, start, place);
    }
    Step();
    return Make(TokenKind::kString, start, place);
  }

  // Anything outside ASCII. Bytes that are no UTF-8 were reported before.
  Token Foreign() {
    const size_t start = at_;
    const Place place = place_;
    const Utf8Char first = DecodeUtf8(text_, at_);
    if (IsCurlyQuote(first.code_point)) {
      CurlyQuoted();
      return Make(TokenKind::kBad, start, place);
    }
    if (first.length > 0) {
      problems_.Add(
          place, "",
          absl::StrFormat("character U+%04X%s outside of a quoted text",
                          first.code_point,
                          first.code_point == 0xa0 ? " (no-break space)" : ""));
    }
    while (!AtEnd() && static_cast<unsigned char>(Current()) >= 0x80) Step();
    return Make(TokenKind::kBad, start, place);
  }

  // To the closing one, or the end of the line.
  void CurlyQuoted() {
    if (curly_quotes_++ == 0) first_curly_quote_ = place_;
    for (bool first = true; !AtLineEnd(); first = false) {
      const Utf8Char c = DecodeUtf8(text_, at_);
      for (size_t i = 0; i < (c.length == 0 ? 1 : c.length); ++i) Step();
      if (!first && IsCurlyQuote(c.code_point)) return;
    }
  }

  void ReportCurlyQuotes() {
    std::string message =
        "curly quotes, as word processors make them: write \"straight\" ones";
    if (curly_quotes_ > 1) {
      absl::StrAppend(&message, " (", curly_quotes_, " places)");
    }
    problems_.Add(first_curly_quote_, "", std::move(message));
  }

  const absl::string_view text_;
  ProblemList& problems_;
  size_t at_ = 0;
  Place place_{1, 1};
  int curly_quotes_ = 0;
  Place first_curly_quote_;
};

void AppendUtf8(uint32_t c, std::string& to) {
  const auto add = [&to](uint32_t byte) {
    to.push_back(static_cast<char>(static_cast<uint8_t>(byte)));
  };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | (c >> 6));
    add(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    add(0xe0 | (c >> 12));
    add(0x80 | ((c >> 6) & 0x3f));
    add(0x80 | (c & 0x3f));
  } else {
    add(0xf0 | (c >> 18));
    add(0x80 | ((c >> 12) & 0x3f));
    add(0x80 | ((c >> 6) & 0x3f));
    add(0x80 | (c & 0x3f));
  }
}

// Digits of `base` from body[at] on, `min` to `max` of them.
bool TakeDigits(absl::string_view body, size_t& at, uint32_t base, size_t min,
                size_t max, uint32_t& value) {
  size_t count = 0;
  value = 0;
  for (; count < max && at < body.size(); ++count, ++at) {
    const char c = absl::ascii_tolower(static_cast<unsigned char>(body[at]));
    const int digit = IsDigit(c)             ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : 99;
    if (digit >= static_cast<int>(base)) break;
    value = value * base + static_cast<uint32_t>(digit);
  }
  return count >= min;
}

// The escape whose letter is body[at]; moves behind it.
bool Unescape(absl::string_view body, size_t& at, std::string& to) {
  constexpr absl::string_view kLetters = "abfnrtv\\'\"?";
  constexpr absl::string_view kValues = "\a\b\f\n\r\t\v\\'\"?";
  const char c = body[at];
  const size_t simple = kLetters.find(c);
  uint32_t value = 0;
  if (simple != absl::string_view::npos) {
    to.push_back(kValues[simple]);
    ++at;
    return true;
  }
  if (c >= '0' && c <= '7') {
    if (!TakeDigits(body, at, 8, 1, 3, value) || value > 0xff) return false;
    to.push_back(static_cast<char>(static_cast<uint8_t>(value)));
    return true;
  }
  ++at;
  if (c == 'x' || c == 'X') {
    if (!TakeDigits(body, at, 16, 1, 2, value)) return false;
    to.push_back(static_cast<char>(static_cast<uint8_t>(value)));
    return true;
  }
  const size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits == 0 || !TakeDigits(body, at, 16, digits, digits, value) ||
      value > 0x10ffff) {
    return false;
  }
  AppendUtf8(value, to);
  return true;
}

}  // namespace

std::vector<Token> Tokenize(absl::string_view text, ProblemList& problems) {
  return Lexer(text, problems).Run();
}

bool DecodeString(const Token& token, std::string& value,
                  ProblemList& problems) {
  const absl::string_view body = token.text.substr(1, token.text.size() - 2);
  if (!IsUtf8(body)) return false;  // reported with the text as a whole
  value.clear();
  int column = token.place.column + 1;
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      const size_t length = DecodeUtf8(body, at).length;
      value.append(body.data() + at, length);
      at += length;
      ++column;
      continue;
    }
    const size_t start = at++;
    if (at == body.size() || !Unescape(body, at, value)) {
      problems.Add({token.place.line, column}, "",
                   "wrong escape in a text; a backslash itself is \\\\");
      return false;
    }
    column += static_cast<int>(at - start);
  }
  if (IsUtf8(value)) return true;
  problems.Add(token.place, "",
               "escapes in a text make bytes that are no UTF-8");
  return false;
}

}  // namespace benchfleet
