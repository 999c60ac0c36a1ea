#include "coordinator/plan/scalar_value.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "coordinator/plan/nearest_name.h"

namespace benchfleet {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string Shown(const ScalarText& scalar) {
  constexpr size_t kLongest = 40;
  std::string text = absl::StrCat(scalar.negative ? "-" : "", scalar.text);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

absl::Status Bad(const FieldDescriptor& field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field.name(), " ", what));
}

absl::Status WrongType(const FieldDescriptor& field, const ScalarText& scalar) {
  const absl::string_view takes = WhatItTakes(field);
  if (scalar.kind == TokenKind::kString) {
    return Bad(field, absl::StrCat("takes ", takes, ", without quotes"));
  }
  return Bad(field, absl::StrCat("takes ", takes, ", found ", Shown(scalar)));
}

bool AllDigits(absl::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

// The text format would read 010 as 8, and nobody means 8.
bool LooksOctal(absl::string_view text) {
  return text.size() > 1 && text[0] == '0' &&
         absl::ascii_isdigit(static_cast<unsigned char>(text[1]));
}

absl::Status Octal(const FieldDescriptor& field, const ScalarText& scalar) {
  const size_t start = scalar.text.find_first_not_of('0');
  const std::string meant =
      start == std::string::npos ? "0" : scalar.text.substr(start);
  return Bad(field, absl::StrCat("must not start with 0, which makes it octal: "
                                 "found ",
                                 Shown(scalar), ", write ", meant));
}

absl::Status TooLarge(const FieldDescriptor& field, const ScalarText& scalar,
                      uint64_t largest) {
  return Bad(field, absl::StrCat("is out of range: found ", Shown(scalar),
                                 ", the limit is ", scalar.negative ? "-" : "",
                                 largest));
}

// The number without its sign.
absl::StatusOr<uint64_t> Magnitude(const FieldDescriptor& field,
                                   const ScalarText& scalar, uint64_t largest) {
  if (scalar.kind != TokenKind::kNumber) return WrongType(field, scalar);
  absl::string_view digits = scalar.text;
  const bool hex = absl::StartsWithIgnoreCase(digits, "0x");
  if (hex) {
    digits.remove_prefix(2);
  } else if (LooksOctal(digits) && AllDigits(digits)) {
    return Octal(field, scalar);
  }
  const uint64_t base = hex ? 16 : 10;
  uint64_t value = 0;
  bool overflow = false;
  if (digits.empty()) return WrongType(field, scalar);
  for (const char c : digits) {
    const auto byte = static_cast<unsigned char>(c);
    if (hex ? !absl::ascii_isxdigit(byte) : !absl::ascii_isdigit(byte)) {
      return WrongType(field, scalar);
    }
    const int digit = absl::ascii_isdigit(byte)
                          ? c - '0'
                          : absl::ascii_tolower(byte) - 'a' + 10;
    const auto add = static_cast<uint64_t>(digit);
    overflow = overflow || value > (UINT64_MAX - add) / base;
    value = value * base + add;
  }
  if (overflow || value > largest) return TooLarge(field, scalar, largest);
  return value;
}

absl::StatusOr<uint64_t> Unsigned(const FieldDescriptor& field,
                                  const ScalarText& scalar, uint64_t largest) {
  if (scalar.negative && scalar.kind == TokenKind::kNumber) {
    return Bad(field,
               absl::StrCat("must not be negative, found ", Shown(scalar)));
  }
  return Magnitude(field, scalar, largest);
}

absl::StatusOr<int64_t> Signed(const FieldDescriptor& field,
                               const ScalarText& scalar, int64_t largest) {
  const uint64_t limit =
      static_cast<uint64_t>(largest) + (scalar.negative ? 1 : 0);
  ASSIGN_OR_RETURN(const uint64_t magnitude, Magnitude(field, scalar, limit));
  return static_cast<int64_t>(scalar.negative ? 0 - magnitude : magnitude);
}

absl::StatusOr<double> Real(const FieldDescriptor& field,
                            const ScalarText& scalar, double largest) {
  const std::string lower = absl::AsciiStrToLower(scalar.text);
  if (scalar.kind == TokenKind::kIdentifier &&
      (lower == "inf" || lower == "infinity" || lower == "nan")) {
    return Bad(field, absl::StrCat("must be finite, found ", Shown(scalar)));
  }
  if (scalar.kind != TokenKind::kNumber) return WrongType(field, scalar);
  if (LooksOctal(lower)) return Octal(field, scalar);
  absl::string_view digits = lower;
  absl::ConsumeSuffix(&digits, "f");
  double value = 0;
  if (digits.find_first_not_of("0123456789.e+-") != absl::string_view::npos ||
      !absl::SimpleAtod(digits, &value)) {
    return WrongType(field, scalar);
  }
  if (!std::isfinite(value) || value > largest) {
    return Bad(field, absl::StrCat("must be finite, found ", Shown(scalar)));
  }
  return scalar.negative ? -value : value;
}

absl::StatusOr<bool> Truth(const FieldDescriptor& field,
                           const ScalarText& scalar) {
  const std::string& text = scalar.text;
  if (scalar.kind != TokenKind::kString && !scalar.negative) {
    if (text == "true" || text == "True" || text == "t" || text == "1") {
      return true;
    }
    if (text == "false" || text == "False" || text == "f" || text == "0") {
      return false;
    }
  }
  return WrongType(field, scalar);
}

// Those an author may write: a zero that says "unspecified" is none.
std::vector<std::string> ValueNames(const EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (!absl::EndsWith(type.value(i)->name(), "_UNSPECIFIED")) {
      names.push_back(type.value(i)->name());
    }
  }
  return names;
}

absl::StatusOr<const EnumValueDescriptor*> EnumValue(
    const FieldDescriptor& field, const ScalarText& scalar) {
  const EnumDescriptor& type = *field.enum_type();
  const std::vector<std::string> names = ValueNames(type);
  const std::string known = absl::StrJoin(names, ", ");
  if (scalar.kind == TokenKind::kString) {
    return Bad(field,
               absl::StrCat("takes a name without quotes, one of ", known));
  }
  const EnumValueDescriptor* value = nullptr;
  if (scalar.kind == TokenKind::kNumber) {
    ASSIGN_OR_RETURN(const int64_t number, Signed(field, scalar, INT32_MAX));
    value = type.FindValueByNumber(static_cast<int>(number));
  } else if (!scalar.negative) {
    value = type.FindValueByName(scalar.text);
  }
  if (value != nullptr) return value;
  std::string message = absl::StrCat("has no value ", Shown(scalar));
  const std::string nearest = NearestName(scalar.text, names);
  if (!nearest.empty()) {
    absl::StrAppend(&message, "; did you mean ", nearest, "?");
  }
  return Bad(field, absl::StrCat(message, " (one of ", known, ")"));
}

// Set or append by the same name of function.
#define SET_OR_ADD(Type, value)                              \
  do {                                                       \
    const Reflection& reflection = *message.GetReflection(); \
    if (field.is_repeated()) {                               \
      reflection.Add##Type(&message, &field, value);         \
    } else {                                                 \
      reflection.Set##Type(&message, &field, value);         \
    }                                                        \
    return absl::OkStatus();                                 \
  } while (false)

absl::Status SetNumber(const FieldDescriptor& field, const ScalarText& scalar,
                       Message& message) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32: {
      ASSIGN_OR_RETURN(const uint64_t v, Unsigned(field, scalar, UINT32_MAX));
      SET_OR_ADD(UInt32, static_cast<uint32_t>(v));
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      ASSIGN_OR_RETURN(const uint64_t v, Unsigned(field, scalar, UINT64_MAX));
      SET_OR_ADD(UInt64, v);
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      ASSIGN_OR_RETURN(const int64_t v, Signed(field, scalar, INT32_MAX));
      SET_OR_ADD(Int32, static_cast<int32_t>(v));
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      ASSIGN_OR_RETURN(const int64_t v, Signed(field, scalar, INT64_MAX));
      SET_OR_ADD(Int64, v);
    }
    case FieldDescriptor::CPPTYPE_FLOAT: {
      ASSIGN_OR_RETURN(const double v,
                       Real(field, scalar, std::numeric_limits<float>::max()));
      SET_OR_ADD(Float, static_cast<float>(v));
    }
    default: {
      ASSIGN_OR_RETURN(const double v,
                       Real(field, scalar, std::numeric_limits<double>::max()));
      SET_OR_ADD(Double, v);
    }
  }
}

}  // namespace

absl::Status SetScalar(const FieldDescriptor& field, const ScalarText& scalar,
                       Message& message) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return WrongType(field, scalar);
    case FieldDescriptor::CPPTYPE_BOOL: {
      ASSIGN_OR_RETURN(const bool v, Truth(field, scalar));
      SET_OR_ADD(Bool, v);
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      ASSIGN_OR_RETURN(const auto* v, EnumValue(field, scalar));
      SET_OR_ADD(Enum, v);
    }
    case FieldDescriptor::CPPTYPE_STRING:
      if (scalar.kind != TokenKind::kString) {
        return Bad(field, "takes text in quotes");
      }
      SET_OR_ADD(String, scalar.text);
    default:
      return SetNumber(field, scalar, message);
  }
}

absl::string_view WhatItTakes(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "a block { ... }";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return "a name";
    case FieldDescriptor::CPPTYPE_STRING:
      return "text in quotes";
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "a number";
    default:
      return "a whole number";
  }
}

}  // namespace benchfleet
