#include "coordinator/agent_stream.h"

#include <optional>

namespace benchfleet {
namespace {

// Commands are few and tickets come one at a time: an agent this far behind
// does not read.
constexpr size_t kOutboxCapacity = 4096;
constexpr absl::Duration kTick = absl::Milliseconds(500);

}  // namespace

AgentStream::AgentStream(grpc::ServerContext& context)
    : outbox_(kOutboxCapacity), probes_(4), context_(&context) {}

void AgentStream::WriteLoop(Stream& stream) {
  while (!outbox_.closed_and_empty()) {
    std::optional<v1::CoordinatorMessage> message = outbox_.Pop(kTick);
    if (message && !stream.Write(*message)) return;
  }
}

void AgentStream::End() {
  outbox_.Close();
  probes_.Close();
  MutexLock lock(mutex_);
  context_ = nullptr;
}

bool AgentStream::WaitForProbe(absl::Duration timeout) {
  return probes_.Pop(timeout).has_value();
}

bool AgentStream::ended() const {
  MutexLock lock(mutex_);
  return context_ == nullptr;
}

void AgentStream::Send(const v1::CoordinatorMessage& message) {
  v1::CoordinatorMessage copy = message;
  if (!outbox_.TryPush(std::move(copy))) Close();
}

void AgentStream::ProbeClock() { probes_.TryPush(0); }

void AgentStream::Close() {
  MutexLock lock(mutex_);
  if (context_ != nullptr) context_->TryCancel();
}

}  // namespace benchfleet
