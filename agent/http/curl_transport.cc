#include "agent/http/curl_transport.h"

#include <curl/curl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/http/curl_exchange.h"
#include "agent/http/lag_histogram.h"
#include "agent/http/socket_poll.h"
#include "agent/http/url.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;

// Sending a request makes the kernel delay its ACKs by up to 40 ms, and a
// server with Nagle's algorithm waits for them: our delay would be in its
// figures. Called after each request was sent.
void AckAtOnce(curl_socket_t fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

// Within libcurl's callbacks bytes are only kept; observers hear of them after
// the call that one ready socket led to, which is a turn.
class CurlTransport final : public HttpTransport {
 public:
  CurlTransport(const CurlTransportOptions& options, const Clock& clock,
                std::unique_ptr<SocketPoll> poll);
  ~CurlTransport() override;

  absl::StatusOr<ExchangeId> Start(const HttpRequest& request,
                                   HttpObserver* observer) override;
  void Cancel(ExchangeId id) override;
  void Poll(Instant until) override;
  void Wake() override { poll_->Wake(); }
  int64_t ReadinessLagP99Ns() const override { return lag_.Percentile(0.99); }

 private:
  struct DeadlineEntry {
    Instant at;
    ExchangeId id;
    // The heap's top is the earliest.
    bool operator<(const DeadlineEntry& other) const { return at > other.at; }
  };

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimer(CURLM*, long timeout_ms, void* self);

  absl::StatusOr<std::shared_ptr<const CurlHeaders>> HeadersOf(
      const HttpRequest& request);
  CurlExchange& Acquire();
  void Release(CurlExchange& exchange);
  CurlExchange* Find(ExchangeId id);
  // Lets libcurl act on one socket, or on its timers, and delivers.
  void Act(curl_socket_t fd, int mask);
  // Delivers what was kept; false if there was nothing.
  bool Settle();
  void End(CurlExchange& exchange, const TransportEnd& end, Instant stamp);
  void PinNames(CurlExchange& exchange);
  void PushDeadline(DeadlineEntry entry);
  void ExpireDeadlines(Instant now);

  const CurlTransportOptions options_;
  const Clock& clock_;
  const std::unique_ptr<SocketPoll> poll_;
  CURLM* const multi_;
  curl_slist* pinned_ = nullptr;
  bool names_pinned_ = false;

  std::vector<std::unique_ptr<CurlExchange>> exchanges_;
  std::vector<uint32_t> free_;
  std::vector<CurlExchange*> touched_;
  std::shared_ptr<const CurlHeaders> headers_;  // the last ones
  const std::vector<std::string> no_headers_;

  std::optional<Instant> curl_timer_;
  Instant ready_at_;  // when the sockets in hand were reported
  LagHistogram lag_;
  uint64_t turn_ = 0;
  uint64_t generation_ = 0;
  // A heap with an entry for each active exchange.
  std::vector<DeadlineEntry> deadlines_;
};

CurlTransport::CurlTransport(const CurlTransportOptions& options,
                             const Clock& clock,
                             std::unique_ptr<SocketPoll> poll)
    : options_(options),
      clock_(clock),
      poll_(std::move(poll)),
      multi_(curl_multi_init()) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlTransport::OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlTransport::OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
  curl_multi_setopt(
      multi_, CURLMOPT_MAXCONNECTS,
      static_cast<long>(std::max<size_t>(1, options_.max_connections)));
  for (const std::string& entry : options_.pinned) {
    pinned_ = curl_slist_append(pinned_, entry.c_str());
  }
}

CurlTransport::~CurlTransport() {
  for (const auto& exchange : exchanges_) {
    if (exchange->active) curl_multi_remove_handle(multi_, exchange->easy());
  }
  exchanges_.clear();
  curl_multi_cleanup(multi_);
  curl_slist_free_all(pinned_);
}

int CurlTransport::OnSocket(CURL*, curl_socket_t fd, int what, void* self,
                            void*) {
  SocketPoll& poll = *static_cast<CurlTransport*>(self)->poll_;
  if (what == CURL_POLL_IN) AckAtOnce(fd);
  if (what == CURL_POLL_REMOVE) {
    poll.Forget(fd);
  } else {
    poll.Watch(fd, (what & CURL_POLL_IN) != 0, (what & CURL_POLL_OUT) != 0);
  }
  return 0;
}

int CurlTransport::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto* transport = static_cast<CurlTransport*>(self);
  if (timeout_ms < 0) {
    transport->curl_timer_.reset();
  } else {
    transport->curl_timer_ =
        transport->clock_.Now() + absl::Milliseconds(timeout_ms);
  }
  return 0;
}

absl::StatusOr<std::shared_ptr<const CurlHeaders>> CurlTransport::HeadersOf(
    const HttpRequest& request) {
  const std::vector<std::string>& lines =
      request.headers != nullptr ? *request.headers : no_headers_;
  if (headers_ == nullptr || headers_->lines() != lines) {
    ASSIGN_OR_RETURN(headers_, CurlHeaders::Create(lines));
  }
  return headers_;
}

CurlExchange& CurlTransport::Acquire() {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(exchanges_.size()));
    exchanges_.push_back(
        std::make_unique<CurlExchange>(options_, clock_, &touched_));
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  CurlExchange& exchange = *exchanges_[slot];
  exchange.id = (++generation_ << 32) | slot;
  exchange.active = true;
  return exchange;
}

void CurlTransport::Release(CurlExchange& exchange) {
  exchange.active = false;
  if (exchange.touched) {
    touched_.erase(std::find(touched_.begin(), touched_.end(), &exchange));
    exchange.touched = false;
  }
  free_.push_back(static_cast<uint32_t>(exchange.id));
}

CurlExchange* CurlTransport::Find(ExchangeId id) {
  const size_t slot = static_cast<uint32_t>(id);
  if (slot >= exchanges_.size()) return nullptr;
  CurlExchange* exchange = exchanges_[slot].get();
  return exchange->active && exchange->id == id ? exchange : nullptr;
}

// Pinned names stay in the multi handle once one transfer has brought them.
void CurlTransport::PinNames(CurlExchange& exchange) {
  curl_easy_setopt(exchange.easy(), CURLOPT_RESOLVE,
                   names_pinned_ ? nullptr : pinned_);
  names_pinned_ = true;
}

absl::StatusOr<HttpTransport::ExchangeId> CurlTransport::Start(
    const HttpRequest& request, HttpObserver* observer) {
  ASSIGN_OR_RETURN(auto headers, HeadersOf(request));
  CurlExchange& exchange = Acquire();
  absl::Status prepared =
      exchange.Prepare(request, observer, std::move(headers));
  if (prepared.ok()) {
    PinNames(exchange);
    const CURLMcode code = curl_multi_add_handle(multi_, exchange.easy());
    if (code != CURLM_OK) {
      prepared = absl::InternalError(
          absl::StrCat("libcurl: ", curl_multi_strerror(code)));
    }
  }
  if (!prepared.ok()) {
    Release(exchange);
    return prepared;
  }
  const ExchangeId id = exchange.id;
  PushDeadline({exchange.Deadline(), id});
  // Sends at once on a kept-alive connection: of many requests that are due
  // together, the first need not wait for the last.
  ++turn_;
  int running;
  curl_timer_.reset();
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  return id;
}

void CurlTransport::Cancel(ExchangeId id) {
  CurlExchange* exchange = Find(id);
  if (exchange == nullptr) return;
  exchange->Deliver(turn_);
  End(*exchange, exchange->EndBy(Kind::kCancelled, "cut by the agent"),
      clock_.Now());
}

void CurlTransport::End(CurlExchange& exchange, const TransportEnd& end,
                        Instant stamp) {
  curl_multi_remove_handle(multi_, exchange.easy());
  exchange.DeliverEnd(end, stamp);
  Release(exchange);
}

void CurlTransport::Act(curl_socket_t fd, int mask) {
  ++turn_;
  int running;
  curl_multi_socket_action(multi_, fd, mask, &running);
  Settle();
}

bool CurlTransport::Settle() {
  bool delivered = !touched_.empty();
  for (CurlExchange* exchange : touched_) {
    exchange->touched = false;
    exchange->Deliver(turn_);
    if (const auto stamp = exchange->StampOfTurn(turn_); stamp) {
      lag_.Add(stamp->ns - ready_at_.ns);
    }
  }
  touched_.clear();
  int left;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* owner = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
    auto& exchange = *reinterpret_cast<CurlExchange*>(owner);
    const TransportEnd end = exchange.EndOf(message->data.result);
    const std::optional<Instant> stamp = exchange.StampOfTurn(turn_);
    End(exchange, end, stamp ? *stamp : clock_.Now());
    delivered = true;
  }
  return delivered;
}

void CurlTransport::Poll(Instant until) {
  if (Settle()) return;  // of Start
  Instant wake = until;
  if (curl_timer_) wake = std::min(wake, *curl_timer_);
  if (!deadlines_.empty()) wake = std::min(wake, deadlines_.front().at);
  const absl::Span<const SocketPoll::Ready> sockets = poll_->Wait(wake);
  if (!sockets.empty()) ready_at_ = clock_.Now();
  for (const SocketPoll::Ready& ready : sockets) {
    const int mask = (ready.readable ? CURL_CSELECT_IN : 0) |
                     (ready.writable ? CURL_CSELECT_OUT : 0) |
                     (ready.failed ? CURL_CSELECT_ERR : 0);
    Act(ready.fd, mask);
  }
  const Instant now = clock_.Now();
  if (curl_timer_ && *curl_timer_ <= now) {
    curl_timer_.reset();
    Act(CURL_SOCKET_TIMEOUT, 0);
  }
  ExpireDeadlines(now);
}

void CurlTransport::PushDeadline(DeadlineEntry entry) {
  // Entries outlive their exchanges; they are swept before they pile up.
  if (deadlines_.size() > 4 * exchanges_.size() + 1024) {
    deadlines_.clear();
    for (const auto& exchange : exchanges_) {
      if (!exchange->active || exchange->id == entry.id) continue;
      deadlines_.push_back({exchange->Deadline(), exchange->id});
    }
    std::make_heap(deadlines_.begin(), deadlines_.end());
  }
  deadlines_.push_back(entry);
  std::push_heap(deadlines_.begin(), deadlines_.end());
}

void CurlTransport::ExpireDeadlines(Instant now) {
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    const DeadlineEntry entry = deadlines_.front();
    std::pop_heap(deadlines_.begin(), deadlines_.end());
    deadlines_.pop_back();
    CurlExchange* exchange = Find(entry.id);
    if (exchange == nullptr) continue;
    End(*exchange, exchange->EndBy(Kind::kTimeout, exchange->TimeoutMessage()),
        now);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpTransport>> MakeCurlTransport(
    const CurlTransportOptions& options, const Clock& clock) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialized != CURLE_OK) {
    return absl::InternalError(
        absl::StrCat("libcurl: ", curl_easy_strerror(initialized)));
  }
  if (!options.ca_file.empty() && access(options.ca_file.c_str(), R_OK) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("ca_file ", options.ca_file, " cannot be read"));
  }
  ASSIGN_OR_RETURN(auto poll, SocketPoll::Create());
  return std::make_unique<CurlTransport>(options, clock, std::move(poll));
}

absl::StatusOr<std::vector<std::string>> ResolveTarget(absl::string_view url) {
  ASSIGN_OR_RETURN(const Url parsed, ParseUrl(url));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(parsed.host.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat(
        "host ", parsed.host, " not found: ", gai_strerror(error)));
  }
  std::string addresses;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    const bool v6 = a->ai_family == AF_INET6;
    absl::StrAppend(&addresses, addresses.empty() ? "" : ",", v6 ? "[" : "",
                    text, v6 ? "]" : "");
  }
  freeaddrinfo(found);
  if (addresses == parsed.host || parsed.is_ipv6()) {
    return std::vector<std::string>();  // an address
  }
  return std::vector<std::string>{
      absl::StrCat(parsed.host, ":", parsed.port, ":", addresses)};
}

}  // namespace benchfleet
