#include "agent/http/fetch.h"

#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace benchfleet {
namespace {

// Poll returns by then at the latest; the request's timeouts end the exchange.
constexpr absl::Duration kPollAtMost = absl::Milliseconds(100);

class Collector final : public HttpObserver {
 public:
  explicit Collector(size_t max_bytes) : max_bytes_(max_bytes) {}

  void OnHead(int status, absl::string_view content_type,
              absl::string_view) override {
    result.status = status;
    result.content_type = std::string(content_type);
  }
  void OnBytes(absl::string_view bytes, Instant, uint64_t) override {
    const size_t room = max_bytes_ - result.body.size();
    if (bytes.size() > room) result.body_cut = true;
    const absl::string_view piece = bytes.substr(0, room);
    result.body.append(piece.data(), piece.size());
  }
  void OnEnd(const TransportEnd& end, Instant) override {
    result.end = end;
    over = true;
  }

  FetchResult result;
  HttpTransport::ExchangeId id = 0;
  bool over = false;

 private:
  const size_t max_bytes_;
};

void StartOrEnd(HttpTransport& transport, const HttpRequest& request,
                Collector& collector) {
  const auto id = transport.Start(request, &collector);
  if (id.ok()) {
    collector.id = *id;
    return;
  }
  collector.result.end.kind = TransportEnd::Kind::kOther;
  collector.result.end.message = std::string(id.status().message());
  collector.over = true;
}

void Await(HttpTransport& transport, const Clock& clock,
           const Collector& collector, const GivenUp& given_up) {
  while (!collector.over) {
    if (given_up && given_up()) {
      transport.Cancel(collector.id);
    } else {
      transport.Poll(clock.Now() + kPollAtMost);
    }
  }
}

}  // namespace

FetchResult Fetch(HttpTransport& transport, const Clock& clock,
                  const HttpRequest& request, const GivenUp& given_up) {
  Collector collector(kMaxFetchBytes);
  StartOrEnd(transport, request, collector);
  Await(transport, clock, collector, given_up);
  return std::move(collector.result);
}

size_t WarmConnections(HttpTransport& transport, const Clock& clock,
                       const HttpRequest& request, size_t count,
                       const GivenUp& given_up) {
  // An answer that comes before the next start must not lend it its connection.
  HttpRequest fresh = request;
  fresh.new_connection = true;
  std::vector<Collector> collectors(count, Collector(0));
  for (Collector& collector : collectors) {
    StartOrEnd(transport, fresh, collector);
  }
  size_t answered = 0;
  for (const Collector& collector : collectors) {
    Await(transport, clock, collector, given_up);
    if (collector.result.status != 0) ++answered;
  }
  return answered;
}

}  // namespace benchfleet
