#include "agent/share_runner.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/http/curl_transport.h"
#include "agent/http/openai.h"
#include "agent/http/url.h"
#include "agent/load/prompt.h"
#include "common/channel.h"
#include "common/log.h"
#include "common/sha256.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

// Finished requests waiting for delivery.
constexpr size_t kRecorderCapacity = 200'000;

std::string RequestBody(const v1::ShareSpec& share, uint32_t ordinal) {
  if (share.prompt_format() == v1::TOKEN_IDS) {
    return CompletionBody(share, TokenIdPrompt(share.request_seed(), ordinal,
                                               share.input_tokens()));
  }
  return CompletionBody(
      share, TextPrompt(share.request_seed(), ordinal, share.input_tokens()));
}

uint64_t BodyHash(const std::string& body) {
  const Sha256Digest digest = Sha256(body);
  uint64_t hash = 0;
  for (size_t i = 0; i < 8; ++i) hash = (hash << 8) | digest[i];
  return hash;
}

HttpTimeouts HttpTimeoutsOf(const v1::Timeouts& asked) {
  HttpTimeouts timeouts;
  if (asked.has_connect_s()) {
    timeouts.connect = absl::Seconds(asked.connect_s());
  }
  if (asked.has_request_s()) {
    timeouts.request = absl::Seconds(asked.request_s());
  }
  return timeouts;
}

TokenTimeouts TokenTimeoutsOf(const v1::Timeouts& asked) {
  TokenTimeouts timeouts;
  if (asked.has_first_token_s()) {
    timeouts.first = absl::Seconds(asked.first_token_s());
  }
  if (asked.has_between_tokens_s()) {
    timeouts.between = absl::Seconds(asked.between_tokens_s());
  }
  return timeouts;
}

}  // namespace

ShareRunner::ShareRunner(Options options, v1::Prepare prepare,
                         const Clock& clock, Say say)
    : options_(std::move(options)),
      prepare_(std::move(prepare)),
      clock_(clock),
      say_(std::move(say)),
      recorder_(kRecorderCapacity),
      sender_(DialCoordinator(options_.coordinator),
              {prepare_.attempt(), options_.agent_id, options_.instance_id},
              recorder_),
      thread_([this] { Run(); }) {}

ShareRunner::~ShareRunner() {
  Abandon();
  thread_.join();
}

bool ShareRunner::over() const {
  MutexLock lock(mutex_);
  return over_;
}

bool ShareRunner::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

void ShareRunner::Arm(Instant t0) {
  MutexLock lock(mutex_);
  if (!t0_) t0_ = t0;
  changed_.NotifyAll();
}

// On the session's thread, so that hashing megabytes delays no token.
void ShareRunner::AddTickets(const v1::Tickets& tickets) {
  std::vector<ReadyRequest> ready;
  ready.reserve(static_cast<size_t>(tickets.ordinals_size()));
  for (uint32_t ordinal : tickets.ordinals()) {
    std::string body = RequestBody(prepare_.share(), ordinal);
    const uint64_t hash = BodyHash(body);
    ready.push_back({ordinal, std::move(body), hash});
  }
  inbox_.Add(std::move(ready), {.exhausted = tickets.exhausted(),
                                .running_low = tickets.running_low()});
  MutexLock lock(mutex_);
  if (loop_ != nullptr) transport_->Wake();
}

void ShareRunner::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  if (loop_ != nullptr) loop_->Stop();
  changed_.NotifyAll();
}

void ShareRunner::Abandon() {
  Stop();
  sender_.Abandon();
}

v1::ShareProgress ShareRunner::Progress() const {
  v1::ShareProgress progress;
  *progress.mutable_attempt() = prepare_.attempt();
  MutexLock lock(mutex_);
  if (loop_ != nullptr) {
    const LoadCounters& counters = loop_->counters();
    progress.set_completed(counters.completed.load());
    progress.set_failed(counters.failed.load());
    progress.set_in_flight(counters.in_flight.load());
    progress.set_output_tokens(counters.output_tokens.load());
  }
  return progress;
}

void ShareRunner::Run() {
  if (Refusal refusal = PrepareShare(); stopped()) {
    SayFinished(LoadResult());  // what was found out matters no more
  } else if (refusal.refused()) {
    SayRefused(refusal);
  } else {
    v1::AgentMessage prepared;
    *prepared.mutable_prepared()->mutable_attempt() = prepare_.attempt();
    say_(std::move(prepared));
    const std::optional<Instant> t0 = WaitForArm();
    if (!t0) {
      SayFinished(LoadResult());
    } else if (*t0 <= clock_.Now()) {
      SayRefused({v1::ShareRefused::LATE_START,
                  "the start time had passed when the command came"});
    } else {
      LoadAndDeliver(*t0);
    }
  }
  MutexLock lock(mutex_);
  over_ = true;
}

Refusal ShareRunner::PrepareShare() {
  const v1::ShareSpec& share = prepare_.share();
  if (Refusal no_room = CheckOpenFiles(share.concurrency());
      no_room.refused()) {
    return no_room;
  }
  absl::StatusOr<std::string> key = ReadApiKey(share.engine());
  if (!key.ok()) {
    return {v1::ShareRefused::BAD_CREDENTIALS,
            std::string(key.status().message())};
  }
  absl::StatusOr<std::string> url = OpenTransport(share);
  if (!url.ok()) {
    return {v1::ShareRefused::ENGINE_UNREACHABLE,
            absl::StrCat("engine ", share.engine().name(), ": ",
                         url.status().message())};
  }
  plan_ = {
      .share = share,
      .url = *url,
      .headers = RequestHeaders(share, *key),
      .key = *key,
      .timeouts = HttpTimeoutsOf(share.timeouts()),
      .token_timeouts = TokenTimeoutsOf(share.timeouts()),
      .request_id_prefix = absl::StrCat("bf-", prepare_.attempt().epoch(), "-",
                                        prepare_.attempt().attempt_id(), "-"),
      .t0 = {}};
  AddTickets(prepare_.tickets());
  return CheckEngine(share, plan_.headers, *key, *transport_, clock_,
                     [this] { return stopped(); });
}

absl::StatusOr<std::string> ShareRunner::OpenTransport(
    const v1::ShareSpec& share) {
  ASSIGN_OR_RETURN(std::string url,
                   EndpointUrl(share.engine().base_url(), EndpointPath(share)));
  CurlTransportOptions curl;
  curl.ca_file = share.engine().ca_file();
  curl.insecure_skip_verify = share.engine().insecure_skip_verify();
  curl.reuse_connections = ReusesConnections(share.engine());
  curl.max_connections = share.concurrency() + 8;
  ASSIGN_OR_RETURN(curl.pinned, ResolveTarget(url));
  ASSIGN_OR_RETURN(transport_, MakeCurlTransport(curl, clock_));
  return url;
}

std::optional<Instant> ShareRunner::WaitForArm() {
  MutexLock lock(mutex_);
  while (!t0_ && !stopped_) changed_.Wait(mutex_);
  return stopped_ ? std::nullopt : t0_;
}

void ShareRunner::LoadAndDeliver(Instant t0) {
  plan_.t0 = t0;
  LoadLoop* loop = nullptr;
  {
    MutexLock lock(mutex_);
    loop_ = std::make_unique<LoadLoop>(
        plan_, *transport_, clock_, inbox_, recorder_,
        [this](uint32_t idle_slots, uint32_t spare, uint32_t want) {
          v1::AgentMessage message;
          v1::TicketRequest& ask = *message.mutable_ticket_request();
          *ask.mutable_attempt() = prepare_.attempt();
          ask.set_idle_slots(idle_slots);
          ask.set_spare(spare);
          ask.set_want(want);
          say_(std::move(message));
        });
    loop = loop_.get();
    if (stopped_) loop->Stop();
  }
  v1::AgentMessage armed;
  *armed.mutable_armed()->mutable_attempt() = prepare_.attempt();
  say_(std::move(armed));

  absl::Status delivered;
  std::thread delivery([&] { delivered = sender_.Run(); });
  const LoadResult result = loop->Run();
  delivery.join();
  SayProgress();  // the last figures
  if (delivered.ok()) {
    SayFinished(result);
  } else {
    SayRefused({v1::ShareRefused::INTERNAL,
                absl::StrCat("timings could not be delivered: ",
                             delivered.message())});
  }
}

void ShareRunner::SayProgress() {
  v1::AgentMessage message;
  *message.mutable_progress() = Progress();
  say_(std::move(message));
}

void ShareRunner::SayFinished(const LoadResult& result) {
  v1::AgentMessage message;
  v1::ShareFinished& finished = *message.mutable_finished();
  *finished.mutable_attempt() = prepare_.attempt();
  finished.set_first_sent_ns(result.first_sent.ns);
  *finished.mutable_evidence() = result.evidence;
  v1::ShareManifest& manifest = *finished.mutable_manifest();
  manifest.set_records(result.records);
  manifest.set_last_seq(sender_.last_seq());
  {
    MutexLock lock(mutex_);
    if (loop_ != nullptr) {
      manifest.set_completed(loop_->counters().completed.load());
      manifest.set_failed(loop_->counters().failed.load());
      manifest.set_cancelled(loop_->counters().cancelled.load());
    }
  }
  say_(std::move(message));
}

void ShareRunner::SayRefused(const Refusal& refusal) {
  LogWarning("share of attempt ", prepare_.attempt().attempt_id(),
             " refused: ", refusal.message);
  v1::AgentMessage message;
  v1::ShareRefused& refused = *message.mutable_refused();
  *refused.mutable_attempt() = prepare_.attempt();
  refused.set_reason(refusal.reason);
  refused.set_message(refusal.message);
  say_(std::move(message));
}

}  // namespace benchfleet
