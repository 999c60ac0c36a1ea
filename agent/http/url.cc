#include "agent/http/url.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

absl::Status Bad(absl::string_view url, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("address \"", url, "\": ", why,
                   "; write it like http://host:8000 or https://host/path"));
}

bool IsHostCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
         c == '-' || c == '_';
}

bool IsHostName(absl::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  for (char c : host) {
    if (!IsHostCharacter(c)) return false;
  }
  return true;
}

bool IsIpv6Literal(absl::string_view host) {
  if (host.size() < 2 || host.find(':') == absl::string_view::npos) {
    return false;
  }
  for (char c : host) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c)) && c != ':' &&
        c != '.') {
      return false;
    }
  }
  return true;
}

bool ParsePort(absl::string_view text, uint16_t* port) {
  uint32_t number;
  if (text.empty() || text.size() > 5 || !absl::SimpleAtoi(text, &number) ||
      number == 0 || number > 65535 || text.front() == '+') {
    return false;
  }
  *port = static_cast<uint16_t>(number);
  return true;
}

// Splits "host:port" into `parsed`; false if the host is none.
bool ParseHost(absl::string_view authority, Url* parsed,
               absl::string_view* port) {
  if (absl::ConsumePrefix(&authority, "[")) {
    const size_t close = authority.find(']');
    if (close == absl::string_view::npos) return false;
    parsed->host = std::string(authority.substr(0, close));
    *port = authority.substr(close + 1);
    return IsIpv6Literal(parsed->host) &&
           (port->empty() || port->front() == ':');
  }
  const size_t colon = authority.find(':');
  parsed->host = std::string(authority.substr(0, colon));
  *port = colon == absl::string_view::npos ? absl::string_view()
                                           : authority.substr(colon);
  return IsHostName(parsed->host);
}

}  // namespace

std::string Url::Authority() const {
  return is_ipv6() ? absl::StrCat("[", host, "]:", port)
                   : absl::StrCat(host, ":", port);
}

absl::StatusOr<Url> ParseUrl(absl::string_view url) {
  for (char c : url) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) {
      return Bad(url, "a blank, a control or a non-ASCII character");
    }
  }
  const size_t colon = url.find("://");
  if (colon == absl::string_view::npos) return Bad(url, "no http:// before it");
  Url parsed;
  parsed.scheme = absl::AsciiStrToLower(url.substr(0, colon));
  if (parsed.scheme != "http" && parsed.scheme != "https") {
    return Bad(url, "only http and https are known");
  }
  const absl::string_view rest = url.substr(colon + 3);
  if (rest.find_first_of("?#") != absl::string_view::npos) {
    return Bad(url, "a query or fragment has no place in it");
  }
  const size_t slash = rest.find('/');
  const absl::string_view authority = rest.substr(0, slash);
  if (slash != absl::string_view::npos) {
    parsed.path = std::string(rest.substr(slash));
  }
  if (authority.find('@') != absl::string_view::npos) {
    // Not repeated in the message: it may hold a password.
    return absl::InvalidArgumentError(
        "address with user or password (@): give keys by api_key_env or "
        "api_key_file");
  }
  absl::string_view port;
  if (!ParseHost(authority, &parsed, &port)) return Bad(url, "no valid host");
  parsed.port = parsed.scheme == "https" ? 443 : 80;
  if (absl::ConsumePrefix(&port, ":") && !ParsePort(port, &parsed.port)) {
    return Bad(url, "the port is not 1 to 65535");
  }
  return parsed;
}

absl::StatusOr<std::string> EndpointUrl(absl::string_view base_url,
                                        absl::string_view path) {
  ASSIGN_OR_RETURN(const Url base,
                   ParseUrl(absl::StripTrailingAsciiWhitespace(
                       absl::StripLeadingAsciiWhitespace(base_url))));
  absl::string_view prefix = base.path;
  while (absl::ConsumeSuffix(&prefix, "/")) {
  }
  if (absl::EndsWith(prefix, "/completions")) {
    return Bad(base_url, "it ends with an endpoint; leave off all after /v1");
  }
  if (absl::ConsumeSuffix(&prefix, "/v1")) {
    while (absl::ConsumeSuffix(&prefix, "/")) {
    }
  }
  return absl::StrCat(base.scheme, "://", base.Authority(), prefix, path);
}

}  // namespace benchfleet
