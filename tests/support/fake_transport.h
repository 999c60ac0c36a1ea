// A scripted HttpTransport on a FakeClock: time passes only in Poll, which
// jumps to the next scripted event. Loops run simulated hours in moments.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/http/http_transport.h"
#include "tests/support/fake_clock.h"

namespace benchfleet {

// What the server does, `at` after the request was started.
struct ScriptedEvent {
  enum class Kind { kHead, kBytes, kEnd };

  static ScriptedEvent Head(absl::Duration at, int status = 200,
                            std::string content_type = "text/event-stream",
                            std::string content_encoding = "");
  static ScriptedEvent Bytes(absl::Duration at, std::string bytes);
  static ScriptedEvent End(absl::Duration at,
                           TransportEnd::Kind kind = TransportEnd::Kind::kOk,
                           std::string message = "");

  absl::Duration at;
  Kind kind = Kind::kBytes;
  int status = 0;
  std::string text;  // content type, or bytes
  std::string content_encoding;
  TransportEnd end;
};

// Whole streaming answer of `tokens` content chunks for /v1/completions: the
// first at `ttft`, the others `itl` apart, then usage, [DONE] and the end.
std::vector<ScriptedEvent> CompletionScript(absl::Duration ttft,
                                            absl::Duration itl, int tokens,
                                            int prompt_tokens);

class FakeTransport final : public HttpTransport {
 public:
  // Events in order of `at`. Without an end the exchange hangs until it is
  // cancelled. A status instead: Start fails with it.
  using Script = std::function<absl::StatusOr<std::vector<ScriptedEvent>>(
      const HttpRequest&)>;
  struct Sent {
    Instant at;
    std::string method;
    std::string url;
    std::string body;
  };

  FakeTransport(FakeClock& clock, Script script)
      : clock_(clock), script_(std::move(script)) {}

  absl::StatusOr<ExchangeId> Start(const HttpRequest& request,
                                   HttpObserver* observer) override;
  void Cancel(ExchangeId id) override;
  // Delivers all that is due at the next event's time, one turn per exchange;
  // without an event up to `until`, time goes there.
  void Poll(Instant until) override;
  void Wake() override { woken_ = true; }

  const std::vector<Sent>& sent() const { return sent_; }
  size_t open() const { return exchanges_.size(); }
  size_t most_open() const { return most_open_; }

 private:
  struct Exchange {
    HttpObserver* observer;
    Instant start;
    std::vector<ScriptedEvent> events;
    size_t next = 0;
  };

  Instant NextEvent() const;
  // True if it ended.
  bool DeliverDue(Exchange& exchange);

  FakeClock& clock_;
  const Script script_;
  std::map<ExchangeId, Exchange> exchanges_;
  std::vector<Sent> sent_;
  size_t most_open_ = 0;
  ExchangeId last_id_ = 0;
  uint64_t turn_ = 0;
  std::atomic<bool> woken_{false};
};

}  // namespace benchfleet
