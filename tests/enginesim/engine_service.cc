#include "tests/enginesim/engine_service.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace benchfleet::enginesim {
namespace {

constexpr absl::string_view kJson = "application/json";

}  // namespace

absl::StatusOr<Fault> ParseFault(absl::string_view name) {
  const std::pair<absl::string_view, Fault> faults[] = {
      {"", Fault::kNone},       {"http500", Fault::kHttp500},
      {"500", Fault::kHttp500}, {"http404", Fault::kHttp404},
      {"404", Fault::kHttp404}, {"html", Fault::kHtml},
      {"reset", Fault::kReset}, {"stream_error", Fault::kStreamError},
      {"stall", Fault::kStall},
  };
  for (const auto& [known, fault] : faults)
    if (name == known) return fault;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name,
                   "\" is no fault: http500, http404, html, stream_error, "
                   "reset, stall"));
}

EngineService::EngineService(ServiceOptions options, const Clock& clock,
                             TruthLog& truth, ResponseSink& sink)
    : options_(std::move(options)),
      clock_(clock),
      truth_(truth),
      sink_(sink),
      zero_(clock.Now()),
      started_s_(absl::ToUnixSeconds(clock.WallNow())),
      model_(options_.profile, options_.seed),
      random_(DeriveSeed({options_.seed, 1})) {}

int64_t EngineService::ModelNs(Instant at) const {
  return std::llround(static_cast<double>(at.ns - zero_.ns) *
                      options_.time_scale);
}

Instant EngineService::NextDeadline() const {
  const int64_t next = model_.NextEventNs();
  if (next == EngineModel::kNever) return kNever;
  return {zero_.ns + static_cast<int64_t>(std::ceil(static_cast<double>(next) /
                                                    options_.time_scale))};
}

void EngineService::Advance(Instant now) {
  due_.clear();
  model_.AdvanceTo(ModelNs(now), due_);
  for (const TokenEvent& event : due_) {
    if (dead_) return;
    Emit(event);
  }
}

void EngineService::Emit(const TokenEvent& event) {
  const auto it = open_.find(event.request);
  if (it == open_.end()) return;
  Generation& generation = it->second;
  ++generation.made;
  ++generated_tokens_;
  if (generation.fault != Fault::kNone && ApplyFault(event.request, generation))
    return;
  if (generation.stream) {
    EmitStreamed(generation, event.index, event.last);
  } else {
    generation.truth.token_ns.push_back(clock_.Now().ns);
  }
  if (!event.last) return;
  Complete(generation);
  Drop(event.request, "ok");
}

void EngineService::EmitStreamed(Generation& generation, uint32_t index,
                                 bool last) {
  std::string first;
  absl::string_view bytes;
  if (last) {
    first = generation.reply->LastToken(index, generation.finish_reason);
    bytes = first;
  } else {
    bytes = generation.reply->Token(index);
  }
  if (!generation.head_sent) {
    first = absl::StrCat(StreamHead(options_.flavour, generation.keep_alive),
                         bytes);
    bytes = first;
    generation.head_sent = true;
  }
  generation.truth.token_ns.push_back(clock_.Now().ns);
  sink_.Send(generation.connection, bytes);
}

void EngineService::Complete(Generation& generation) {
  Truth& truth = generation.truth;
  const double prompt_ms =
      static_cast<double>(truth.token_ns.front() - truth.arrival_ns) / 1e6;
  const double output_ms =
      static_cast<double>(truth.token_ns.back() - truth.token_ns.front()) / 1e6;
  const ReplyEnd end{generation.finish_reason, generation.output_tokens,
                     prompt_ms, output_ms};
  std::string bytes;
  if (generation.stream) {
    bytes = generation.reply->End(end);
  } else {
    std::string text;
    for (uint32_t i = 0; i < generation.output_tokens; ++i)
      text += TokenText(i);
    bytes = HttpReply(options_.flavour, 200, kJson,
                      WholeReply(generation.reply->facts(), text, end),
                      generation.keep_alive);
  }
  truth.done_ns = clock_.Now().ns;
  sink_.Send(generation.connection, bytes);
  sink_.Finish(generation.connection, generation.keep_alive);
  ++finished_;
  dead_ = options_.exit_after_requests != 0 &&
          finished_ >= options_.exit_after_requests;
}

bool EngineService::ApplyFault(uint64_t id, Generation& generation) {
  if (generation.made <= generation.output_tokens / 2) return false;
  const uint64_t connection = generation.connection;
  generation.truth.done_ns = clock_.Now().ns;
  switch (generation.fault) {
    case Fault::kStreamError:
      if (generation.head_sent) {
        sink_.Send(connection, generation.reply->ErrorEnd());
      } else {
        const WireError error = InternalError(options_.flavour);
        sink_.Send(connection, HttpReply(options_.flavour, error.status, kJson,
                                         error.body, generation.keep_alive));
      }
      sink_.Finish(connection, generation.keep_alive);
      Drop(id, "fault_stream_error");
      return true;
    case Fault::kReset:
      sink_.Reset(connection);
      Drop(id, "fault_reset");
      return true;
    default:  // stalls until the client goes
      model_.Cancel(id);
      return true;
  }
}

void EngineService::Drop(uint64_t id, absl::string_view end) {
  const auto it = open_.find(id);
  if (it == open_.end()) return;
  model_.Cancel(id);
  Truth& truth = it->second.truth;
  truth.end = std::string(end);
  truth.output_tokens = static_cast<uint32_t>(truth.token_ns.size());
  truth_.Write(truth);
  by_connection_.erase(it->second.connection);
  open_.erase(it);
}

void EngineService::ClientClosed(uint64_t connection) {
  const auto it = by_connection_.find(connection);
  if (it == by_connection_.end()) return;
  const uint64_t id = it->second;
  const bool stalled = open_.at(id).fault == Fault::kStall;
  Drop(id, stalled ? "fault_stall" : "client_closed");
}

void EngineService::Shutdown() {
  std::vector<uint64_t> ids;
  for (const auto& entry : open_) ids.push_back(entry.first);
  std::sort(ids.begin(), ids.end());
  for (uint64_t id : ids) Drop(id, "shutdown");
}

}  // namespace benchfleet::enginesim
