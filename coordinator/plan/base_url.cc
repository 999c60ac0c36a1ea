#include "coordinator/plan/base_url.h"

#include <arpa/inet.h>

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace benchfleet {
namespace {

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

bool ConsumeScheme(absl::string_view& url) {
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (absl::StartsWithIgnoreCase(url, scheme)) {
      url.remove_prefix(scheme.size());
      return true;
    }
  }
  return false;
}

absl::Status CheckPort(absl::string_view port) {
  uint32_t number = 0;
  const bool digits = !port.empty() && port.find_first_not_of("0123456789") ==
                                           absl::string_view::npos;
  if (!digits || !absl::SimpleAtoi(port, &number) || number < 1 ||
      number > 65535) {
    return Bad("the port must be a number from 1 to 65535");
  }
  return absl::OkStatus();
}

absl::Status CheckHostName(absl::string_view host) {
  if (host.empty()) return Bad("there is no host");
  for (const char c : host) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' &&
        c != '-' && c != '_') {
      return Bad("the host may hold letters, digits, '.', '-' and '_'");
    }
  }
  if (host.front() == '.' || absl::StrContains(host, "..")) {
    return Bad("the host has an empty part");
  }
  return absl::OkStatus();
}

absl::Status CheckAuthority(absl::string_view authority) {
  absl::string_view host = authority;
  absl::string_view port;
  bool has_port = false;
  if (absl::ConsumePrefix(&host, "[")) {
    const size_t end = host.find(']');
    if (end == absl::string_view::npos)
      return Bad("there is a \"[\" without \"]\"");
    port = host.substr(end + 1);
    has_port = !port.empty();
    if (has_port && !absl::ConsumePrefix(&port, ":")) {
      return Bad("only a port may follow the \"]\"");
    }
    in6_addr ignored;
    if (inet_pton(AF_INET6, std::string(host.substr(0, end)).c_str(),
                  &ignored) != 1) {
      return Bad("between [ and ] must be an IPv6 address");
    }
    return has_port ? CheckPort(port) : absl::OkStatus();
  }
  const size_t colon = host.find(':');
  has_port = colon != absl::string_view::npos;
  if (has_port) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
    if (absl::StrContains(port, ':')) {
      return Bad("an IPv6 address is written in [ ]");
    }
  }
  if (absl::Status status = CheckHostName(host); !status.ok()) return status;
  return has_port ? CheckPort(port) : absl::OkStatus();
}

absl::Status CheckPath(absl::string_view path) {
  for (const char c : path) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c)) || c == '"' ||
        c == '<' || c == '>' || c == '\\') {
      return Bad("the path holds a character that must be written as %XX");
    }
  }
  while (absl::ConsumeSuffix(&path, "/")) {
  }
  if (absl::EndsWith(path, "/completions") || absl::EndsWith(path, "/models")) {
    return Bad("the path must end before or after /v1; the rest is added");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckBaseUrl(absl::string_view url) {
  if (url.find_first_of("?#") != absl::string_view::npos) {
    return Bad("there must be no query (?) and no fragment (#)");
  }
  if (!ConsumeScheme(url)) return Bad("it must start with http:// or https://");
  const size_t slash = url.find('/');
  const absl::string_view authority = url.substr(0, slash);
  if (absl::StrContains(authority, '@')) {
    return Bad(
        "there must be no user or password: the suite is stored; use "
        "api_key_env or api_key_file");
  }
  if (absl::Status status = CheckAuthority(authority); !status.ok()) {
    return status;
  }
  return CheckPath(slash == absl::string_view::npos ? "" : url.substr(slash));
}

}  // namespace benchfleet
