#include "coordinator/plan/message_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/plan/nearest_name.h"
#include "coordinator/plan/scalar_value.h"
#include "coordinator/plan/text_lexer.h"
#include "coordinator/plan/token_cursor.h"
#include "google/protobuf/descriptor.h"

namespace benchfleet {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  return names;
}

// What to call the message at a path: " in cases", or nothing for the root.
std::string InWhat(absl::string_view path) {
  if (path.empty()) return "";
  absl::string_view list = path.back() == ']' ? ParentPath(path) : path;
  const size_t dot = list.rfind('.');
  if (dot != absl::string_view::npos) list.remove_prefix(dot + 1);
  return absl::StrCat(" in ", list);
}

class MessageReader : private TokenCursor {
 public:
  MessageReader(std::vector<Token> tokens, FieldPlaces& places,
                ProblemList& problems)
      : TokenCursor(std::move(tokens)), places_(places), problems_(problems) {}

  void Read(Message& message) {
    root_ = message.GetDescriptor();
    ReadFields(message, "", nullptr);
  }

 private:
  void Report(Place place, absl::string_view path, std::string message) {
    problems_.Add(place, std::string(path), std::move(message));
  }

  void ReadFields(Message& message, const std::string& path,
                  const Token* opener);
  void CloseBlock(const std::string& path, const Token* opener);
  void ReadField(Message& message, const std::string& path);
  void ReadUnknown(const Descriptor& type, const std::string& path,
                   const Token& name);
  void ReadBlocks(Message& message, const FieldDescriptor& field,
                  const std::string& path, Place place);
  bool ReadBlock(Message& message, const FieldDescriptor& field,
                 const std::string& path, Place place);
  void ReadScalars(Message& message, const FieldDescriptor& field,
                   const std::string& path);
  void ReadList(Message& message, const FieldDescriptor& field,
                const std::string& path, const Token& opener);
  bool ReadElement(Message& message, const FieldDescriptor& field,
                   const std::string& path);
  bool ReadScalar(Message& message, const FieldDescriptor& field,
                  const std::string& path);
  bool TakeScalarText(const FieldDescriptor& field, const std::string& path,
                      ScalarText& scalar);
  bool HasRoom(const Message& message, const FieldDescriptor& field,
               const std::string& path);
  std::string ElementPath(const Message& message, const FieldDescriptor& field,
                          const std::string& path) const;
  void Unclosed(const Token& opener, const std::string& path);
  void IgnoreBrackets();

  FieldPlaces& places_;
  ProblemList& problems_;
  const Descriptor* root_ = nullptr;
};

void MessageReader::ReadFields(Message& message, const std::string& path,
                               const Token* opener) {
  while (true) {
    const Token& token = Current();
    if (AtEnd()) {
      if (opener != nullptr) Unclosed(*opener, path);
      return;
    }
    if (IsBlockEnd(token)) {
      CloseBlock(path, opener);
      if (opener != nullptr) return;
      continue;
    }
    if (token.kind == TokenKind::kIdentifier) {
      ReadField(message, path);
      continue;
    }
    if (token.kind != TokenKind::kBad) {
      Report(
          token.place, path,
          absl::StrCat("expected the name of a field, found ", Shown(token)));
    }
    places_.MarkBroken(path);
    Step();
    SkipToField();
  }
}

// Steps over a closing bracket.
void MessageReader::CloseBlock(const std::string& path, const Token* opener) {
  const Token& token = Current();
  Step();
  if (opener == nullptr) {
    Report(
        token.place, path,
        absl::StrCat("unexpected ", Shown(token), ": no block is open here"));
    places_.MarkBroken(path);
    return;
  }
  const char wanted = opener->text[0] == '{' ? '}' : '>';
  if (token.text[0] != wanted) {
    Report(token.place, path,
           absl::StrCat("expected \"", std::string(1, wanted),
                        "\" to close the block, found ", Shown(token)));
  }
}

void MessageReader::ReadField(Message& message, const std::string& path) {
  const Token& name = Current();
  Step();
  const Descriptor& type = *message.GetDescriptor();
  const FieldDescriptor* field = type.FindFieldByName(std::string(name.text));
  if (field == nullptr) {
    ReadUnknown(type, path, name);
    return;
  }
  const std::string field_path = JoinPath(path, field->name());
  if (!field->is_repeated() && places_.Recorded(field_path)) {
    const Place first = places_.Of(field_path);
    Report(name.place, field_path,
           absl::StrCat(name.text, InWhat(path), " is given twice; first at ",
                        first.line, ":", first.column));
    Accept(":");
    if (IsSymbol(Current(), "{<[")) {
      IgnoreBrackets();
    } else {
      ScalarText ignored;
      TakeScalarText(*field, field_path, ignored);
    }
  } else {
    places_.Record(field_path, name.place);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      ReadBlocks(message, *field, field_path, name.place);
    } else {
      ReadScalars(message, *field, field_path);
    }
  }
  Accept(",;");
}

void MessageReader::ReadUnknown(const Descriptor& type, const std::string& path,
                                const Token& name) {
  std::string message =
      absl::StrCat("unknown field ", Shown(name), InWhat(path));
  const std::string text(name.text);
  const std::string nearest = NearestName(text, FieldNames(type));
  if (&type != root_ && root_->FindFieldByName(text) != nullptr) {
    absl::StrAppend(&message,
                    "; it belongs to the suite itself: is a \"}\" "
                    "missing before it?");
    places_.MarkMisspelt(text);
  } else if (!nearest.empty()) {
    absl::StrAppend(&message, "; did you mean \"", nearest, "\"?");
    places_.MarkMisspelt(JoinPath(path, nearest));
  }
  Report(name.place, JoinPath(path, text.substr(0, 64)), std::move(message));
  Accept(":");
  if (IsSymbol(Current(), "{<[")) {
    IgnoreBrackets();
    Accept(",;");
  } else {
    SkipToField();
  }
}

void MessageReader::ReadBlocks(Message& message, const FieldDescriptor& field,
                               const std::string& path, Place place) {
  Accept(":");
  if (!field.is_repeated() || !IsSymbol(Current(), "[")) {
    if (!ReadBlock(message, field, path, place)) SkipToField();
    return;
  }
  const Token& opener = Current();
  Step();
  ReadList(message, field, path, opener);
}

// False: nothing was read, the token is still there.
bool MessageReader::ReadBlock(Message& message, const FieldDescriptor& field,
                              const std::string& path, Place place) {
  const Token& opener = Current();
  if (!IsSymbol(opener, "{<")) {
    if (opener.kind != TokenKind::kBad) {
      Report(opener.place, path,
             absl::StrCat(field.name(), " takes a block: ", field.name(),
                          " { ... }"));
    }
    places_.MarkBroken(path);
    return false;
  }
  if (!HasRoom(message, field, path)) {
    IgnoreBrackets();
    return true;
  }
  Step();
  const std::string block_path = ElementPath(message, field, path);
  places_.Record(block_path, place);
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  Message* block = field.is_repeated()
                       ? reflection.AddMessage(&message, &field)
                       : reflection.MutableMessage(&message, &field);
  ReadFields(*block, block_path, &opener);
  return true;
}

void MessageReader::ReadScalars(Message& message, const FieldDescriptor& field,
                                const std::string& path) {
  if (!Accept(":")) {
    if (Current().kind != TokenKind::kBad && !IsSymbol(Current(), "{<")) {
      Report(Current().place, path,
             absl::StrCat("expected \":\" after ", field.name(), ", found ",
                          Shown(Current())));
      places_.MarkBroken(path);
      SkipToField();
      return;
    }
  }
  if (IsSymbol(Current(), "{<") ||
      (IsSymbol(Current(), "[") && !field.is_repeated())) {
    Report(Current().place, path,
           absl::StrCat(
               field.name(), " takes ", WhatItTakes(field),
               IsSymbol(Current(), "[") ? ", not a list" : ", not a block"));
    places_.MarkBroken(path);
    IgnoreBrackets();
    return;
  }
  if (IsSymbol(Current(), "[")) {
    const Token& opener = Current();
    Step();
    ReadList(message, field, path, opener);
  } else if (!ReadScalar(message, field, path)) {
    SkipToField();
  }
}

// Behind the '['.
void MessageReader::ReadList(Message& message, const FieldDescriptor& field,
                             const std::string& path, const Token& opener) {
  if (Accept("]")) return;
  bool readable = true;
  while (true) {
    if (!ReadElement(message, field, path)) {
      readable = false;
      while (!AtEnd() && !IsSymbol(Current(), ",]}>") && !AtField()) Step();
    }
    if (Accept("]")) return;
    if (Accept(",")) continue;
    if (Current().kind != TokenKind::kBad && (readable || AtEnd())) {
      Report(
          Current().place, path,
          absl::StrCat("expected \",\" or \"]\" in the list of ", field.name(),
                       " that opens at ", opener.place.line, ":",
                       opener.place.column, ", found ", Shown(Current())));
    }
    places_.MarkBroken(path);
    while (!AtEnd() && !IsSymbol(Current(), "]}>") && !AtField()) Step();
    Accept("]");
    return;
  }
}

bool MessageReader::ReadElement(Message& message, const FieldDescriptor& field,
                                const std::string& path) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return ReadBlock(message, field, path, Current().place);
  }
  return ReadScalar(message, field, path);
}

// False: what stood there, if it was a value at all, was read and is reported.
bool MessageReader::ReadScalar(Message& message, const FieldDescriptor& field,
                               const std::string& path) {
  const Place place = Current().place;
  ScalarText scalar;
  if (!TakeScalarText(field, path, scalar)) {
    places_.MarkBroken(path);
    return false;
  }
  if (!HasRoom(message, field, path)) return true;
  const std::string element = ElementPath(message, field, path);
  const absl::Status set = SetScalar(field, scalar, message);
  if (!set.ok()) {
    Report(place, element, std::string(set.message()));
    places_.MarkBroken(path);
    return false;
  }
  places_.RecordValue(element, place);
  return true;
}

bool MessageReader::TakeScalarText(const FieldDescriptor& field,
                                   const std::string& path,
                                   ScalarText& scalar) {
  scalar.negative = Accept("-");
  const Token& token = Current();
  scalar.kind = token.kind;
  scalar.text = std::string(token.text);
  // base_url: http://... without quotes is a value, no field "http".
  const bool word =
      token.kind == TokenKind::kIdentifier &&
      (!AtField() ||
       (!FirstOnItsLine() &&
        field.containing_type()->FindFieldByName(scalar.text) == nullptr));
  if (word || token.kind == TokenKind::kNumber) {
    Step();
    return true;
  }
  if (token.kind == TokenKind::kBad) {
    Step();
    return false;
  }
  if (token.kind != TokenKind::kString || scalar.negative) {
    Report(token.place, path,
           absl::StrCat(field.name(), " takes ", WhatItTakes(field), ", found ",
                        Shown(token)));
    return false;
  }
  scalar.text.clear();
  bool decoded = true;
  for (; Current().kind == TokenKind::kString; Step()) {
    std::string piece;
    decoded = DecodeString(Current(), piece, problems_) && decoded;
    scalar.text += piece;
  }
  return decoded;
}

bool MessageReader::HasRoom(const Message& message,
                            const FieldDescriptor& field,
                            const std::string& path) {
  if (!field.is_repeated() ||
      message.GetReflection()->FieldSize(message, &field) < kMaxListLength) {
    return true;
  }
  if (!places_.Broken(path)) {
    Report(Current().place, path,
           absl::StrCat("more than ", kMaxListLength, " ", field.name()));
    places_.MarkBroken(path);
  }
  return false;
}

std::string MessageReader::ElementPath(const Message& message,
                                       const FieldDescriptor& field,
                                       const std::string& path) const {
  if (!field.is_repeated()) return path;
  return IndexPath(path, message.GetReflection()->FieldSize(message, &field));
}

void MessageReader::Unclosed(const Token& opener, const std::string& path) {
  Report(opener.place, path,
         absl::StrCat("\"", opener.text, "\" is never closed"));
  places_.MarkBroken(path);
  places_.MarkBroken("");
}

// What stands here in brackets has been reported, or is not known.
void MessageReader::IgnoreBrackets() {
  const Token& opener = Current();
  if (!SkipBrackets()) Unclosed(opener, "");
}

}  // namespace

void ReadMessage(absl::string_view text, Message& message, FieldPlaces& places,
                 ProblemList& problems) {
  MessageReader(Tokenize(text, problems), places, problems).Read(message);
}

}  // namespace benchfleet
