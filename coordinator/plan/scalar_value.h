// One scalar of a text, as written, into a field of a message.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/plan/text_lexer.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace benchfleet {

struct ScalarText {
  TokenKind kind = TokenKind::kBad;  // kIdentifier, kNumber or kString
  // After a minus sign.
  bool negative = false;
  // As written, or for kString its decoded value.
  std::string text;
};

// Sets the field, or appends to it if it is repeated. InvalidArgument: the
// message names the field, what it takes and what it got; never a text, which
// may be a secret. The field is then unchanged.
absl::Status SetScalar(const google::protobuf::FieldDescriptor& field,
                       const ScalarText& scalar,
                       google::protobuf::Message& message);

// "a whole number", "text in quotes", ...
absl::string_view WhatItTakes(const google::protobuf::FieldDescriptor& field);

}  // namespace benchfleet
