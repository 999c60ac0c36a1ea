#include "common/address.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

bool IsHost(absl::string_view host) {
  if (host.empty()) return false;
  absl::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  if (host.front() == '[' && host.back() == ']' && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
    allowed = "abcdefABCDEF0123456789:.%";
  }
  return host.find_first_not_of(allowed) == absl::string_view::npos;
}

bool IsPort(absl::string_view port, bool any_port) {
  uint32_t number = 0;
  return !port.empty() && port.size() <= 5 &&
         port.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(port, &number) && number <= 65535 &&
         (number != 0 || any_port);
}

}  // namespace

absl::Status CheckAddress(absl::string_view flag, absl::string_view address,
                          bool any_port) {
  const size_t colon = address.rfind(':');
  if (colon != absl::string_view::npos && IsHost(address.substr(0, colon)) &&
      IsPort(address.substr(colon + 1), any_port)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, "=", absl::CHexEscape(address),
                   ": expected HOST:PORT, such as 127.0.0.1:7070"));
}

}  // namespace benchfleet
