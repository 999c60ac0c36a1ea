#include "agent/http/curl_exchange.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/http/url.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;

constexpr size_t kMaxHeaderValue = 256;
// What a read leaves in `pending_` is at most some hundred KB; more is not
// kept.
constexpr size_t kKeptPending = 32 << 10;

static_assert(CURL_ERROR_SIZE <= 512);

// Far timeouts would overflow an Instant.
Instant After(Instant start, absl::Duration d) {
  return start + std::min(d, absl::Hours(24 * 3650));
}

Kind KindOf(CURLcode code, absl::string_view error) {
  switch (code) {
    case CURLE_OK:
      return Kind::kOk;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return Kind::kConnect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_USE_SSL_FAILED:
      return Kind::kTls;
    case CURLE_OPERATION_TIMEDOUT:
      return Kind::kTimeout;
    case CURLE_PARTIAL_FILE:
      return Kind::kPartial;
    case CURLE_RECV_ERROR:
      // libcurl has no code of its own for broken framing.
      return absl::StrContains(error, "chunked-encoding") ? Kind::kOther
                                                          : Kind::kReset;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
      return Kind::kReset;
    default:
      return Kind::kOther;
  }
}

absl::Duration Microseconds(CURL* easy, CURLINFO info) {
  curl_off_t us = 0;
  curl_easy_getinfo(easy, info, &us);
  return absl::Microseconds(us);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CurlHeaders>> CurlHeaders::Create(
    const std::vector<std::string>& lines) {
  std::shared_ptr<CurlHeaders> headers(new CurlHeaders());
  headers->lines_ = lines;
  bool encoding_given = false;
  for (const std::string& line : lines) {
    const size_t colon = line.find(':');
    if (colon == 0 || colon == std::string::npos ||
        line.find_first_of(absl::string_view("\r\n\0", 3).data(), 0, 3) !=
            std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "request header \"", absl::string_view(line).substr(0, colon),
          "\" is no \"Name: value\" on one line"));
    }
    const absl::string_view name = absl::string_view(line).substr(0, colon);
    encoding_given |= absl::EqualsIgnoreCase(name, "accept-encoding");
    const bool empty =
        absl::StripAsciiWhitespace(absl::string_view(line).substr(colon + 1))
            .empty();
    // libcurl takes "Name:" for "leave the header out".
    const std::string text = empty ? absl::StrCat(name, ";") : line;
    headers->list_ = curl_slist_append(headers->list_, text.c_str());
  }
  if (!encoding_given) {
    headers->list_ =
        curl_slist_append(headers->list_, "Accept-Encoding: identity");
  }
  // "Expect: 100-continue" would cost a long prompt a second.
  headers->list_ = curl_slist_append(headers->list_, "Expect:");
  return std::shared_ptr<const CurlHeaders>(std::move(headers));
}

CurlHeaders::~CurlHeaders() { curl_slist_free_all(list_); }

CurlExchange::CurlExchange(const CurlTransportOptions& options,
                           const Clock& clock,
                           std::vector<CurlExchange*>* touched_list)
    : clock_(clock), touched_list_(touched_list), easy_(curl_easy_init()) {
  if (easy_ != nullptr) SetFixedOptions(options);
}

CurlExchange::~CurlExchange() { curl_easy_cleanup(easy_); }

void CurlExchange::SetFixedOptions(const CurlTransportOptions& options) {
  const auto set = [this](CURLoption option, auto value) {
    curl_easy_setopt(easy_, option, value);
  };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_FORBID_REUSE, options.reuse_connections ? 0L : 1L);
  set(CURLOPT_USERAGENT, "benchfleet");
  set(CURLOPT_SSL_VERIFYPEER, options.insecure_skip_verify ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, options.insecure_skip_verify ? 0L : 2L);
  if (!options.ca_file.empty()) {
    set(CURLOPT_CAINFO, options.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  set(CURLOPT_HEADERFUNCTION, &CurlExchange::OnHeader);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlExchange::OnBody);
  set(CURLOPT_WRITEDATA, this);
  // libcurl on its own sends a request again when a reused connection ends
  // without a byte. Its only way there leads over OnNewSocket or OnRequest,
  // which refuse.
  set(CURLOPT_PREREQFUNCTION, &CurlExchange::OnRequest);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_SOCKOPTFUNCTION, &CurlExchange::OnNewSocket);
  set(CURLOPT_SOCKOPTDATA, this);
}

absl::Status CurlExchange::SetUrl(const std::string& url) {
  if (url == url_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Url parsed, ParseUrl(url));
  peer_ = parsed.Authority();
  url_ = url;
  curl_easy_setopt(easy_, CURLOPT_URL, url_.c_str());
  return absl::OkStatus();
}

absl::Status CurlExchange::Prepare(const HttpRequest& request,
                                   HttpObserver* observer,
                                   std::shared_ptr<const CurlHeaders> headers) {
  if (easy_ == nullptr) return absl::ResourceExhaustedError("no memory");
  RETURN_IF_ERROR(SetUrl(request.url));
  if (request.method == "GET") {
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
  } else if (request.method == "POST") {
    // Not a read function: libcurl then sends head and body (up to 64 KB) in
    // one call.
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS,
                     request.body.empty() ? "" : request.body.data());
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("HTTP method ", request.method, ": GET or POST only"));
  }
  headers_ = std::move(headers);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_->list());
  curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT,
                   request.new_connection ? 1L : 0L);
  const int64_t connect_ms = absl::ToInt64Milliseconds(
      absl::Ceil(std::min(request.timeouts.connect, absl::Hours(24)),
                 absl::Milliseconds(1)));
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<int64_t>(1, connect_ms)));
  error_[0] = '\0';
  observer_ = observer;
  timeouts_ = request.timeouts;
  started_ = clock_.Now();
  last_bytes_ = std::nullopt;
  requested_ = false;
  last_turn_ = 0;
  sockets_opened_ = 0;
  new_connection_ = resend_refused_ = head_complete_ = head_delivered_ = false;
  status_ = 0;
  content_type_.clear();
  content_encoding_.clear();
  pending_.clear();
  return absl::OkStatus();
}

void CurlExchange::Touch() {
  if (touched) return;
  touched = true;
  touched_list_->push_back(this);
}

size_t CurlExchange::OnBody(char* data, size_t size, size_t n, void* self) {
  auto* exchange = static_cast<CurlExchange*>(self);
  exchange->last_bytes_ = exchange->clock_.Now();
  exchange->pending_.append(data, size * n);
  exchange->Touch();
  return size * n;
}

size_t CurlExchange::OnHeader(char* data, size_t size, size_t n, void* self) {
  static_cast<CurlExchange*>(self)->TakeHeaderLine({data, size * n});
  return size * n;
}

void CurlExchange::TakeHeaderLine(absl::string_view line) {
  if (head_complete_) return;  // a trailer
  line = absl::StripAsciiWhitespace(line);
  if (absl::StartsWith(line, "HTTP/")) {
    const size_t blank = line.find(' ');
    const absl::string_view code =
        blank == absl::string_view::npos ? "" : line.substr(blank + 1, 3);
    if (!absl::SimpleAtoi(code, &status_)) status_ = 0;
    return;
  }
  if (line.empty()) {
    if (status_ >= 200 || status_ == 0) {  // not 100 Continue and its like
      head_complete_ = true;
      Touch();
    }
    return;
  }
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos) return;
  const absl::string_view name = line.substr(0, colon);
  const absl::string_view value =
      absl::StripAsciiWhitespace(line.substr(colon + 1))
          .substr(0, kMaxHeaderValue);
  if (absl::EqualsIgnoreCase(name, "content-type")) {
    content_type_.assign(value.data(), value.size());
  } else if (absl::EqualsIgnoreCase(name, "content-encoding")) {
    content_encoding_.assign(value.data(), value.size());
  }
}

int CurlExchange::OnRequest(void* self, char*, char*, int, int) {
  auto* exchange = static_cast<CurlExchange*>(self);
  if (exchange->requested_) {  // libcurl wants to send it again
    exchange->resend_refused_ = true;
    return CURL_PREREQFUNC_ABORT;
  }
  exchange->requested_ = true;
  exchange->new_connection_ = exchange->sockets_opened_ > 0;
  return CURL_PREREQFUNC_OK;
}

int CurlExchange::OnNewSocket(void* self, int, int) {
  auto* exchange = static_cast<CurlExchange*>(self);
  if (exchange->requested_) {
    exchange->resend_refused_ = true;
    return CURL_SOCKOPT_ERROR;
  }
  ++exchange->sockets_opened_;
  return CURL_SOCKOPT_OK;
}

void CurlExchange::Deliver(uint64_t turn) {
  if (head_complete_ && !head_delivered_) {
    head_delivered_ = true;
    observer_->OnHead(status_, content_type_, content_encoding_);
  }
  if (pending_.empty()) return;
  last_turn_ = turn;
  observer_->OnBytes(pending_, *last_bytes_, turn);
  if (pending_.capacity() > kKeptPending) std::string().swap(pending_);
  pending_.clear();
}

void CurlExchange::DeliverEnd(const TransportEnd& end, Instant stamp) {
  HttpObserver* const observer = std::exchange(observer_, nullptr);
  observer->OnEnd(end, stamp);
}

std::optional<Instant> CurlExchange::StampOfTurn(uint64_t turn) const {
  return last_turn_ == turn ? last_bytes_ : std::nullopt;
}

Instant CurlExchange::Deadline() const {
  return After(started_, timeouts_.request);
}

std::string CurlExchange::TimeoutMessage() const {
  return absl::StrCat("timeout of the request: not over after ",
                      absl::FormatDuration(timeouts_.request), " with ", peer_);
}

void CurlExchange::AddConnectionFacts(TransportEnd* end) const {
  // Of the connection that the request went out on: libcurl may open another
  // one before it gives up.
  end->new_connection = requested_ ? new_connection_ : sockets_opened_ > 0;
  if (!end->new_connection) return;
  const absl::Duration dns = Microseconds(easy_, CURLINFO_NAMELOOKUP_TIME_T);
  const absl::Duration connect = Microseconds(easy_, CURLINFO_CONNECT_TIME_T);
  const absl::Duration tls = Microseconds(easy_, CURLINFO_APPCONNECT_TIME_T);
  end->dns = dns;
  end->connect = std::max(absl::ZeroDuration(), connect - dns);
  end->tls = std::max(absl::ZeroDuration(), tls - connect);
}

TransportEnd CurlExchange::EndBy(Kind kind, std::string message) const {
  TransportEnd end;
  end.kind = kind;
  end.message = std::move(message);
  AddConnectionFacts(&end);
  return end;
}

std::string CurlExchange::Reason(int curl_code) const {
  const absl::string_view text = error_.data();
  return text.empty() ? curl_easy_strerror(static_cast<CURLcode>(curl_code))
                      : std::string(text);
}

TransportEnd CurlExchange::EndOf(int curl_code) const {
  const auto code = static_cast<CURLcode>(curl_code);
  const std::string reason = Reason(curl_code);
  TransportEnd end =
      EndBy(resend_refused_ ? Kind::kReset : KindOf(code, reason), "");
  long os_error = 0;
  curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
  switch (end.kind) {
    case Kind::kOk:
      break;
    case Kind::kConnect:
      end.message = absl::StrCat("no connection to ", peer_, ": ",
                                 code == CURLE_COULDNT_CONNECT && os_error != 0
                                     ? std::strerror(static_cast<int>(os_error))
                                     : reason.c_str());
      break;
    case Kind::kTls:
      end.message = absl::StrCat("no TLS session with ", peer_, ": ", reason);
      break;
    case Kind::kTimeout:
      end.message =
          absl::StrCat("timeout of connecting: no connection to ", peer_,
                       " within ", absl::FormatDuration(timeouts_.connect));
      break;
    case Kind::kReset:
      end.message =
          status_ == 0 && !end.new_connection
              ? absl::StrCat("the kept-alive connection to ", peer_,
                             " ended without an answer; the request was not "
                             "sent again (connection_reuse: NO_REUSE is for "
                             "servers that close theirs)")
              : absl::StrCat("the connection to ", peer_, " broke: ", reason);
      break;
    case Kind::kPartial:
      end.message = absl::StrCat(peer_,
                                 " closed the connection before the end "
                                 "of the body");
      break;
    default:
      end.message = absl::StrCat("exchange with ", peer_, ": ", reason);
  }
  return end;
}

}  // namespace benchfleet
