#include "coordinator/report/number_format.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace benchfleet {
namespace {

// Python writes an exponent outside 1e-4 <= |x| < 1e16.
constexpr int kLeastFixedExponent = -4;
constexpr int kFirstLargeExponent = 16;

std::string Fixed(absl::string_view digits, int exponent) {
  const int count = static_cast<int>(digits.size());
  if (exponent < 0) {
    return absl::StrCat(
        "0.", std::string(static_cast<size_t>(-exponent - 1), '0'), digits);
  }
  if (exponent >= count - 1) {
    return absl::StrCat(
        digits, std::string(static_cast<size_t>(exponent - count + 1), '0'),
        ".0");
  }
  const size_t point = static_cast<size_t>(exponent) + 1;
  return absl::StrCat(digits.substr(0, point), ".", digits.substr(point));
}

std::string WithExponent(absl::string_view digits, int exponent) {
  std::string text(digits.substr(0, 1));
  if (digits.size() > 1) absl::StrAppend(&text, ".", digits.substr(1));
  const int size = std::abs(exponent);
  absl::StrAppend(&text, exponent < 0 ? "e-" : "e+", size < 10 ? "0" : "",
                  size);
  return text;
}

}  // namespace

std::string PythonFloat(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer),
                                 std::abs(value), std::chars_format::scientific)
                       .ptr;
  const absl::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  if (e == absl::string_view::npos) return std::string(text);
  std::string digits(text.substr(0, 1));
  if (e > 2) absl::StrAppend(&digits, text.substr(2, e - 2));
  int exponent = 0;
  if (!absl::SimpleAtoi(text.substr(e + 1), &exponent)) exponent = 0;
  const bool fixed =
      exponent >= kLeastFixedExponent && exponent < kFirstLargeExponent;
  return absl::StrCat(
      std::signbit(value) ? "-" : "",
      fixed ? Fixed(digits, exponent) : WithExponent(digits, exponent));
}

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  int decimals = 0;
  if (size < 999.95) decimals = 1;
  if (size < 99.995) decimals = 2;
  if (size < 9.9995) decimals = 3;
  if (size < 0.99995) decimals = 4;
  if (value == 0) decimals = 1;
  char buffer[512];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  return std::string(buffer, static_cast<size_t>(end - buffer));
}

}  // namespace benchfleet
