// One place for a request in flight, used again and again.
#pragma once

#include <string>
#include <vector>

#include "agent/http/http_transport.h"
#include "agent/http/response_reader.h"
#include "agent/load/ticket_inbox.h"
#include "common/clock.h"

namespace benchfleet {

// Passes an exchange's events to its reader and tells the loop, by the two
// lists, when the stream and when the exchange is over.
class LoadSlot final : public HttpObserver {
 public:
  LoadSlot(std::vector<LoadSlot*>& ended, std::vector<LoadSlot*>& lingering)
      : ended_(ended), lingering_(lingering) {}

  void OnHead(int status, absl::string_view content_type,
              absl::string_view content_encoding) override {
    reader.OnHead(status, content_type, content_encoding);
  }
  void OnBytes(absl::string_view bytes, Instant stamp, uint64_t turn) override {
    reader.OnBytes(bytes, stamp, turn);
    if (!lingers && reader.stream_over()) {
      lingers = true;
      over_at = stamp;
      lingering_.push_back(this);
    }
  }
  void OnEnd(const TransportEnd& end, Instant stamp) override {
    if (late_message.empty() || end.kind != TransportEnd::Kind::kCancelled) {
      reader.OnEnd(end, stamp);
    } else {
      TransportEnd late = end;
      late.kind = TransportEnd::Kind::kTimeout;
      late.message = late_message;
      reader.OnEnd(late, stamp);
    }
    freed_at = stamp;
    busy = false;
    ended_.push_back(this);
  }

  ResponseReader reader;
  ReadyRequest request;
  std::vector<std::string> headers;
  HttpTransport::ExchangeId exchange = 0;
  Instant scheduled, sent, over_at;
  Instant freed_at;          // 0: never used
  std::string late_message;  // why the loop cuts it; "": it does not
  bool busy = false;
  bool lingers = false;
  int64_t turnaround_ns = 0;

 private:
  std::vector<LoadSlot*>& ended_;
  std::vector<LoadSlot*>& lingering_;
};

}  // namespace benchfleet
