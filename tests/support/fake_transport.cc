#include "tests/support/fake_transport.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

constexpr Instant kNever{INT64_MAX};

}  // namespace

ScriptedEvent ScriptedEvent::Head(absl::Duration at, int status,
                                  std::string content_type,
                                  std::string content_encoding) {
  ScriptedEvent event;
  event.at = at;
  event.kind = Kind::kHead;
  event.status = status;
  event.text = std::move(content_type);
  event.content_encoding = std::move(content_encoding);
  return event;
}

ScriptedEvent ScriptedEvent::Bytes(absl::Duration at, std::string bytes) {
  ScriptedEvent event;
  event.at = at;
  event.text = std::move(bytes);
  return event;
}

ScriptedEvent ScriptedEvent::End(absl::Duration at, TransportEnd::Kind kind,
                                 std::string message) {
  ScriptedEvent event;
  event.at = at;
  event.kind = Kind::kEnd;
  event.end.kind = kind;
  event.end.message = std::move(message);
  return event;
}

std::vector<ScriptedEvent> CompletionScript(absl::Duration ttft,
                                            absl::Duration itl, int tokens,
                                            int prompt_tokens) {
  std::vector<ScriptedEvent> events = {ScriptedEvent::Head(ttft)};
  absl::Duration at = ttft;
  for (int i = 0; i < tokens; ++i) {
    at = ttft + i * itl;
    events.push_back(ScriptedEvent::Bytes(
        at, absl::StrCat(
                R"(data: {"choices":[{"index":0,"text":" a","finish_reason":)",
                i + 1 == tokens ? "\"length\"" : "null", "}]}\n\n")));
  }
  events.push_back(ScriptedEvent::Bytes(
      at, absl::StrCat(R"(data: {"choices":[],"usage":{"prompt_tokens":)",
                       prompt_tokens, R"(,"completion_tokens":)", tokens,
                       R"(,"total_tokens":)", prompt_tokens + tokens,
                       "}}\n\ndata: [DONE]\n\n")));
  events.push_back(ScriptedEvent::End(at));
  return events;
}

absl::StatusOr<HttpTransport::ExchangeId> FakeTransport::Start(
    const HttpRequest& request, HttpObserver* observer) {
  auto events = script_(request);
  if (!events.ok()) return events.status();
  sent_.push_back(
      {clock_.Now(), request.method, request.url, std::string(request.body)});
  exchanges_.emplace(++last_id_,
                     Exchange{observer, clock_.Now(), *std::move(events)});
  most_open_ = std::max(most_open_, exchanges_.size());
  return last_id_;
}

void FakeTransport::Cancel(ExchangeId id) {
  const auto it = exchanges_.find(id);
  if (it == exchanges_.end()) return;
  HttpObserver* const observer = it->second.observer;
  exchanges_.erase(it);
  TransportEnd end;
  end.kind = TransportEnd::Kind::kCancelled;
  end.message = "cut by the agent";
  observer->OnEnd(end, clock_.Now());
}

Instant FakeTransport::NextEvent() const {
  Instant next = kNever;
  for (const auto& [id, exchange] : exchanges_) {
    if (exchange.next == exchange.events.size()) continue;
    next = std::min(next, exchange.start + exchange.events[exchange.next].at);
  }
  return next;
}

bool FakeTransport::DeliverDue(Exchange& exchange) {
  ++turn_;
  const Instant now = clock_.Now();
  while (exchange.next < exchange.events.size()) {
    const ScriptedEvent& event = exchange.events[exchange.next];
    if (exchange.start + event.at > now) return false;
    ++exchange.next;
    switch (event.kind) {
      case ScriptedEvent::Kind::kHead:
        exchange.observer->OnHead(event.status, event.text,
                                  event.content_encoding);
        break;
      case ScriptedEvent::Kind::kBytes:
        exchange.observer->OnBytes(event.text, now, turn_);
        break;
      case ScriptedEvent::Kind::kEnd:
        exchange.observer->OnEnd(event.end, now);
        return true;
    }
  }
  return false;
}

void FakeTransport::Poll(Instant until) {
  if (woken_.exchange(false)) return;
  const Instant next = std::max(NextEvent(), clock_.Now());
  if (next > until && until >= clock_.Now()) {
    clock_.AdvanceTo(until);
    return;
  }
  if (next > clock_.Now() && next > until) return;
  clock_.AdvanceTo(next);
  for (auto it = exchanges_.begin(); it != exchanges_.end();) {
    it = DeliverDue(it->second) ? exchanges_.erase(it) : std::next(it);
  }
}

}  // namespace benchfleet
