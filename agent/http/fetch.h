// Single exchanges around a measurement: preflight checks, opening connections.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "agent/http/http_transport.h"
#include "common/clock.h"

namespace benchfleet {

struct FetchResult {
  int status = 0;  // 0: no answer
  std::string content_type;
  std::string body;  // its first kMaxFetchBytes
  bool body_cut = false;
  TransportEnd end;
};

inline constexpr size_t kMaxFetchBytes = size_t{1} << 20;

// Asked now and then; true cuts the exchanges. None: never.
using GivenUp = std::function<bool()>;

// Blocks until the exchange is over, within the request's timeouts. Exchanges
// that are open meanwhile go on. An error to start is an `end` of kOther.
FetchResult Fetch(HttpTransport& transport, const Clock& clock,
                  const HttpRequest& request, const GivenUp& given_up = {});

// Opens `count` connections: that many exchanges of `request`, a cheap GET, at
// once. Blocks until all are over; returns how many had an answer, of whatever
// status.
size_t WarmConnections(HttpTransport& transport, const Clock& clock,
                       const HttpRequest& request, size_t count,
                       const GivenUp& given_up = {});

}  // namespace benchfleet
