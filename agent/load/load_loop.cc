#include "agent/load/load_loop.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/http/openai.h"
#include "agent/load/load_slot.h"

namespace benchfleet {
namespace {

// The loop wakes at least this often, so that a stall shows as a late return.
constexpr absl::Duration kHeartbeat = absl::Milliseconds(20);

// After [DONE] the body should end at once. A server that keeps it open for
// longer loses its connection; the request is complete all the same.
constexpr absl::Duration kLingerLimit = absl::Seconds(1);

// Tickets held ahead per slot, so that a slot never waits for the coordinator.
constexpr size_t kSparePerSlot = 1;

}  // namespace

LoadLoop::LoadLoop(LoadPlan plan, HttpTransport& transport, const Clock& clock,
                   TicketInbox& inbox, TimingRecorder& recorder,
                   AskForTickets ask)
    : plan_(std::move(plan)),
      transport_(transport),
      clock_(clock),
      inbox_(inbox),
      recorder_(recorder),
      ask_(std::move(ask)) {
  for (uint32_t i = 0; i < plan_.share.concurrency(); ++i) {
    slots_.push_back(std::make_unique<LoadSlot>(ended_, lingering_));
    slots_.back()->headers = plan_.headers;
    slots_.back()->headers.emplace_back();  // x-request-id
    idle_.push_back(slots_.back().get());
  }
  std::reverse(idle_.begin(), idle_.end());  // the first slot is used first
}

LoadLoop::~LoadLoop() = default;

LoadResult LoadLoop::Run() {
  Instant now = clock_.Now();
  watch_.Begin(now);
  while (true) {
    if (inbox_.has_news()) TakeNews();
    if (stop_.load(std::memory_order_relaxed)) CutAll();
    CutLingering(now);
    CutLate(now);
    RecordEnded();
    if (!cut_ && now >= plan_.t0) StartDue(now);
    AskIfShort();
    if (Over()) break;
    const Instant turn_end = clock_.Now();
    watch_.TurnEnded(now, turn_end);
    const Instant until = NextWake(turn_end);
    transport_.Poll(until);
    now = clock_.Now();
    watch_.PollReturned(until, now);
  }
  result_.evidence = watch_.Evidence(clock_.Now());
  result_.evidence.set_loop_lag_p99_ns(
      static_cast<uint64_t>(transport_.ReadinessLagP99Ns()));
  recorder_.Close();
  return result_;
}

void LoadLoop::Stop() {
  stop_.store(true);
  transport_.Wake();
}

bool LoadLoop::Over() const {
  return idle_.size() == slots_.size() && ended_.empty() && tickets_.empty() &&
         (cut_ || supply_.exhausted);
}

void LoadLoop::TakeNews() {
  std::vector<ReadyRequest> fresh;
  supply_ = inbox_.Take(fresh);
  for (ReadyRequest& request : fresh) tickets_.push_back(std::move(request));
  asked_ = false;
}

void LoadLoop::AskIfShort() {
  if (asked_ || supply_.exhausted || cut_) return;
  const size_t ahead = supply_.running_low ? 0 : slots_.size() * kSparePerSlot;
  const size_t wanted = idle_.size() + ahead;
  if (tickets_.size() >= wanted) return;
  asked_ = true;
  ask_(static_cast<uint32_t>(idle_.size()),
       static_cast<uint32_t>(tickets_.size()),
       static_cast<uint32_t>(wanted - tickets_.size()));
}

void LoadLoop::StartDue(Instant now) {
  while (!idle_.empty() && !tickets_.empty()) {
    LoadSlot& slot = *idle_.back();
    idle_.pop_back();
    slot.scheduled = slot.freed_at.ns != 0 ? slot.freed_at : plan_.t0;
    slot.scheduled = std::min(slot.scheduled, now);
    ReadyRequest request = std::move(tickets_.front());
    tickets_.pop_front();
    StartOn(slot, std::move(request));
  }
}

void LoadLoop::StartOn(LoadSlot& slot, ReadyRequest request) {
  slot.request = std::move(request);
  slot.headers.back() = absl::StrCat("x-request-id: ", plan_.request_id_prefix,
                                     slot.request.ordinal);
  slot.busy = true;
  slot.lingers = false;
  slot.late_message.clear();
  slot.reader.Reset({.chat = IsChat(plan_.share),
                     .include_usage = plan_.share.include_usage(),
                     .input_tokens = plan_.share.input_tokens(),
                     .output_tokens = plan_.share.output_tokens(),
                     .key = plan_.key});
  HttpRequest http;
  http.url = plan_.url;
  http.headers = &slot.headers;
  http.body = slot.request.body;
  http.timeouts = plan_.timeouts;

  slot.sent = clock_.Now();
  slot.turnaround_ns = 0;
  if (slot.freed_at.ns != 0) {
    slot.turnaround_ns = slot.sent.ns - slot.freed_at.ns;
    watch_.SlotTurnaround(slot.turnaround_ns);
  }
  slot.reader.set_sent(slot.sent);
  next_late_check_ =
      std::min(next_late_check_, slot.sent + plan_.token_timeouts.first);
  if (result_.first_sent.ns == 0) result_.first_sent = slot.sent;
  counters_.in_flight.fetch_add(1, std::memory_order_relaxed);
  auto exchange = transport_.Start(http, &slot);
  if (exchange.ok()) {
    slot.exchange = *exchange;
    return;
  }
  TransportEnd end;
  end.kind = TransportEnd::Kind::kConnect;
  end.message = std::string(exchange.status().message());
  slot.OnEnd(end, clock_.Now());
}

void LoadLoop::RecordEnded() {
  for (LoadSlot* slot : ended_) {
    v1::RequestTiming timing;
    slot->reader.Fill(&timing);
    timing.set_ordinal(slot->request.ordinal);
    timing.set_scheduled_ns(slot->scheduled.ns);
    timing.set_sent_ns(slot->sent.ns);
    timing.set_request_bytes(slot->request.body.size());
    timing.set_body_hash(slot->request.body_hash);
    timing.set_slot_turnaround_ns(static_cast<uint64_t>(slot->turnaround_ns));
    counters_.in_flight.fetch_sub(1, std::memory_order_relaxed);
    Count(timing);
    recorder_.Record(std::move(timing));
    ++result_.records;
    if (slot->lingers) std::erase(lingering_, slot);
    idle_.push_back(slot);
  }
  ended_.clear();
}

void LoadLoop::Count(const v1::RequestTiming& timing) {
  switch (timing.outcome()) {
    case v1::COMPLETED:
      counters_.completed.fetch_add(1, std::memory_order_relaxed);
      counters_.output_tokens.fetch_add(timing.output_tokens(),
                                        std::memory_order_relaxed);
      break;
    case v1::CANCELLED:
      counters_.cancelled.fetch_add(1, std::memory_order_relaxed);
      break;
    default:
      counters_.failed.fetch_add(1, std::memory_order_relaxed);
  }
}

void LoadLoop::RecordUnstarted() {
  for (const ReadyRequest& request : tickets_) {
    v1::RequestTiming timing;
    timing.set_ordinal(request.ordinal);
    timing.set_outcome(v1::CANCELLED);
    timing.set_error("stopped before it was sent");
    timing.set_body_hash(request.body_hash);
    Count(timing);
    recorder_.Record(std::move(timing));
    ++result_.records;
  }
  tickets_.clear();
}

void LoadLoop::CutLingering(Instant now) {
  if (lingering_.empty()) return;
  const std::vector<LoadSlot*> waiting = lingering_;
  for (LoadSlot* slot : waiting) {
    if (slot->busy && now - slot->over_at >= kLingerLimit) {
      transport_.Cancel(slot->exchange);
    }
  }
}

void LoadLoop::CutLate(Instant now) {
  if (now < next_late_check_) return;
  const auto& [first, between] = plan_.token_timeouts;
  // By then a first token that comes meanwhile is not late for its next.
  next_late_check_ = now + between;
  for (const auto& slot : slots_) {
    if (!slot->busy || slot->lingers) continue;
    const std::optional<Instant> last = slot->reader.last_content();
    const Instant due = last ? *last + between : slot->sent + first;
    if (now < due) {
      next_late_check_ = std::min(next_late_check_, due);
      continue;
    }
    slot->late_message = absl::StrCat(
        last ? "timeout between tokens: none for "
             : "timeout of the first token: none within ",
        absl::FormatDuration(last ? between : first), " from ", plan_.url, ", ",
        slot->reader.response_bytes(), " bytes of answer");
    transport_.Cancel(slot->exchange);
  }
}

void LoadLoop::CutAll() {
  if (cut_) return;
  cut_ = true;
  RecordUnstarted();
  for (const auto& slot : slots_) {
    if (slot->busy) transport_.Cancel(slot->exchange);
  }
}

Instant LoadLoop::NextWake(Instant now) const {
  const Instant heartbeat = std::min(now + kHeartbeat, next_late_check_);
  const bool waits_for_t0 = now < plan_.t0 && !tickets_.empty();
  return waits_for_t0 ? std::min(heartbeat, plan_.t0) : heartbeat;
}

}  // namespace benchfleet
