// The seam between the load loop and the network. The real one is
// CurlTransport; tests script a fake one on a fake clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"

namespace benchfleet {

struct HttpTimeouts {
  absl::Duration connect = absl::Seconds(10);
  // All of it. What is due earlier within an answer is its reader's matter.
  absl::Duration request = absl::Seconds(3600);
};

struct HttpRequest {
  // "GET" or "POST".
  std::string method = "POST";
  std::string url;
  // "Name: value" lines.
  const std::vector<std::string>* headers = nullptr;
  // Must stay valid until OnEnd.
  absl::string_view body;
  HttpTimeouts timeouts;
  // Open a connection even if an idle one could be used; it is kept after.
  bool new_connection = false;
};

// How the transport saw an exchange end. That an answer was complete and right
// is decided by its reader, not here.
struct TransportEnd {
  enum class Kind {
    kOk,       // the body ended as its framing says
    kConnect,  // no connection, name not found
    kTls,
    kTimeout,
    kReset,    // the connection broke
    kPartial,  // closed before the length or the last chunk that was promised
    kCancelled,
    kOther,
  };
  Kind kind = Kind::kOk;
  // Readable, names the peer and phase; empty if kOk.
  std::string message;
  bool new_connection = false;
  // Of a new connection; zero if reused.
  absl::Duration dns, connect, tls;
};

// Hears of one exchange, on the transport's thread, only from within Poll (or
// Cancel). Must not call the transport from within.
class HttpObserver {
 public:
  virtual ~HttpObserver() = default;
  // Once, before any byte, if an answer came.
  virtual void OnHead(int status, absl::string_view content_type,
                      absl::string_view content_encoding) = 0;
  // Bytes of the body, stamped on arrival, never earlier. All bytes of one
  // socket-ready turn bear the same stamp and `turn`; turns grow.
  virtual void OnBytes(absl::string_view bytes, Instant stamp,
                       uint64_t turn) = 0;
  // Once, last.
  virtual void OnEnd(const TransportEnd& end, Instant stamp) = 0;
};

// Lives on one thread, except Wake.
class HttpTransport {
 public:
  using ExchangeId = uint64_t;

  virtual ~HttpTransport() = default;
  // Sends once; never sends again whatever breaks. `observer` must live until
  // its OnEnd. The request is handed to the kernel in the next Poll at the
  // latest. An error here means that nothing was sent and no OnEnd follows.
  virtual absl::StatusOr<ExchangeId> Start(const HttpRequest& request,
                                           HttpObserver* observer) = 0;
  // Cuts the exchange; OnEnd(kCancelled) comes before it returns. Unknown ids
  // are ignored.
  virtual void Cancel(ExchangeId id) = 0;
  // Waits for network events or until `until` or Wake, and delivers. The only
  // place where the agent's loop waits.
  virtual void Poll(Instant until) = 0;
  // 99th percentile, over all polls, of the time from a socket being reported
  // as ready to its bytes being stamped. 0 if it is not measured.
  virtual int64_t ReadinessLagP99Ns() const { return 0; }
  // Thread-safe: makes a Poll, now or next, return at once.
  virtual void Wake() = 0;
};

}  // namespace benchfleet
