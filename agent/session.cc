#include "agent/session.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "common/channel.h"
#include "common/grpc_status.h"
#include "common/log.h"

namespace benchfleet {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
constexpr absl::Duration kHeartbeatEvery = absl::Seconds(1);
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(500);
constexpr absl::Duration kLongestBackoff = absl::Seconds(10);
constexpr size_t kOutboxCapacity = 4096;

}  // namespace

Session::Session(SessionOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      channel_(DialCoordinator(options_.coordinator)) {}

void Session::Run() {
  absl::Duration backoff = kFirstBackoff;
  while (true) {
    const absl::Status ended = Attach();
    bool was_attached;
    {
      MutexLock lock(mutex_);
      if (stopping_) return;
      was_attached = std::exchange(attached_, false);
    }
    LogWarning(was_attached ? "lost" : "cannot attach to", " coordinator ",
               options_.coordinator, ": ", ended.message(), "; trying again");
    if (was_attached) backoff = kFirstBackoff;
    if (!WaitUnlessStopped(backoff)) return;
    backoff = std::min(backoff * 2, kLongestBackoff);
  }
}

void Session::Stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  if (share_ != nullptr) share_->Stop();
  if (context_ != nullptr) context_->TryCancel();
  changed_.NotifyAll();
}

absl::Status Session::Attach() {
  // Waits here for a connection, in pieces, so that Stop is heard.
  if (!channel_->WaitForConnected(std::chrono::system_clock::now() +
                                  std::chrono::seconds(2))) {
    return absl::UnavailableError("no connection");
  }
  grpc::ClientContext context;
  auto outbox = std::make_shared<Outbox>(kOutboxCapacity);
  {
    MutexLock lock(mutex_);
    if (stopping_) return absl::CancelledError("stopping");
    context_ = &context;
    outbox_ = outbox;
  }
  auto stub = v1::FleetService::NewStub(channel_);
  std::unique_ptr<Stream> stream = stub->Attach(&context);
  heard_ns_ = clock_.Now().ns;
  lease_ns_ = absl::ToInt64Nanoseconds(absl::Seconds(10));

  v1::AgentMessage hello;
  *hello.mutable_hello() = options_.hello;
  Say(std::move(hello));
  std::thread writer([&] {
    while (!outbox->closed_and_empty()) {
      std::optional<v1::AgentMessage> message = outbox->Pop(kTick);
      if (message && !stream->Write(*message)) break;
    }
  });
  std::thread lease([&] { KeepLease(context); });
  ReadCommands(*stream);

  outbox->Close();
  lease.join();
  writer.join();
  std::unique_ptr<ShareRunner> share;
  {
    MutexLock lock(mutex_);
    context_ = nullptr;
    share = std::move(share_);
    if (share != nullptr) share->Abandon();
  }
  share.reset();
  clock_answerer_.reset();
  return FromGrpc(stream->Finish());
}

void Session::ReadCommands(Stream& stream) {
  v1::CoordinatorMessage message;
  while (stream.Read(&message)) {
    heard_ns_ = clock_.Now().ns;
    Handle(message);
  }
}

void Session::Handle(const v1::CoordinatorMessage& message) {
  if (message.has_welcome()) {
    const v1::Welcome& welcome = message.welcome();
    epoch_ = welcome.epoch();
    lease_ns_ = static_cast<int64_t>(welcome.lease_ns());
    {
      MutexLock lock(mutex_);
      attached_ = true;
    }
    clock_answerer_ = std::make_unique<ClockAnswerer>(
        options_.coordinator, options_.hello.agent_id(),
        options_.hello.instance_id(), clock_);
    LogInfo("attached to coordinator ", options_.coordinator, " as ",
            options_.hello.agent_id());
    return;
  }
  if (message.has_prepare()) {
    if (message.prepare().attempt().epoch() == epoch_) {
      StartShare(message.prepare());
    }
    return;
  }
  // The share is replaced on this thread only, so it lives on outside the lock.
  ShareRunner* share;
  {
    MutexLock lock(mutex_);
    share = share_.get();
  }
  const auto is_ours = [&](const v1::AttemptRef& attempt) {
    return share != nullptr && attempt.epoch() == share->attempt().epoch() &&
           attempt.attempt_id() == share->attempt().attempt_id();
  };
  if (message.has_arm() && is_ours(message.arm().attempt())) {
    share->Arm({message.arm().t0_ns()});
  } else if (message.has_tickets() && is_ours(message.tickets().attempt())) {
    share->AddTickets(message.tickets());
  } else if (message.has_stop() && is_ours(message.stop().attempt())) {
    LogInfo("share of attempt ", message.stop().attempt().attempt_id(),
            " stopped: ", message.stop().reason());
    share->Stop();
  }
}

void Session::StartShare(const v1::Prepare& prepare) {
  std::unique_ptr<ShareRunner> old;
  {
    MutexLock lock(mutex_);
    old = std::move(share_);
  }
  old.reset();  // waits for its thread
  auto share = std::make_unique<ShareRunner>(
      ShareRunner::Options{options_.coordinator, options_.hello.agent_id(),
                           options_.hello.instance_id()},
      prepare, clock_,
      [this](v1::AgentMessage message) { Say(std::move(message)); });
  MutexLock lock(mutex_);
  share_ = std::move(share);
  if (stopping_) share_->Stop();
}

void Session::KeepLease(grpc::ClientContext& context) {
  Instant next_heartbeat = clock_.Now();
  while (true) {
    std::shared_ptr<Outbox> outbox;
    std::optional<v1::AgentMessage> progress;
    {
      MutexLock lock(mutex_);
      outbox = outbox_;
      if (share_ != nullptr && !share_->over()) {
        *progress.emplace().mutable_progress() = share_->Progress();
      }
    }
    const Instant now = clock_.Now();
    if (now.ns - heard_ns_ > lease_ns_) {
      LogError("lease lapsed: nothing heard from the coordinator for ",
               absl::FormatDuration(absl::Nanoseconds(now.ns - heard_ns_)));
      context.TryCancel();
      return;
    }
    if (progress) Say(*std::move(progress));
    if (now >= next_heartbeat) {
      next_heartbeat = now + kHeartbeatEvery;
      v1::AgentMessage heartbeat;
      heartbeat.mutable_heartbeat();
      Say(std::move(heartbeat));
    }
    if (outbox->WaitClosed(kTick)) return;
  }
}

// Never waits: what does not fit means that the stream is stuck, and the lease
// ends it.
void Session::Say(v1::AgentMessage message) {
  std::shared_ptr<Outbox> outbox;
  {
    MutexLock lock(mutex_);
    outbox = outbox_;
  }
  if (outbox != nullptr) outbox->TryPush(std::move(message));
}

bool Session::WaitUnlessStopped(absl::Duration wait) {
  const Instant until = clock_.Now() + wait;
  MutexLock lock(mutex_);
  while (!stopping_ && clock_.Now() < until) {
    changed_.WaitFor(mutex_, until - clock_.Now());
  }
  return !stopping_;
}

}  // namespace benchfleet
