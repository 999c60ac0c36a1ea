// An agent's life: attach to the coordinator, keep the lease, run the shares
// that come, and attach again when the stream ends.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/clock_answerer.h"
#include "agent/share_runner.h"
#include "benchfleet/v1/fleet.grpc.pb.h"
#include "common/bounded_queue.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace benchfleet {

struct SessionOptions {
  std::string coordinator;
  v1::Hello hello;
};

// Run is for one thread; Stop is thread-safe.
class Session {
 public:
  Session(SessionOptions options, const Clock& clock);

  // Attaches again and again, with backoff, until Stop.
  void Run();
  void Stop();

 private:
  using Stream =
      grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>;
  using Outbox = BoundedQueue<v1::AgentMessage>;

  // One stream, from Hello to its end.
  absl::Status Attach();
  void ReadCommands(Stream& stream);
  void Handle(const v1::CoordinatorMessage& message);
  void StartShare(const v1::Prepare& prepare);
  // Sends heartbeats and progress, and ends the stream when the lease lapses.
  void KeepLease(grpc::ClientContext& context);
  void Say(v1::AgentMessage message);
  bool WaitUnlessStopped(absl::Duration wait);

  const SessionOptions options_;
  const Clock& clock_;
  const std::shared_ptr<grpc::Channel> channel_;

  // Of the current stream; only its reading thread replaces them.
  std::shared_ptr<Outbox> outbox_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<ShareRunner> share_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<ClockAnswerer> clock_answerer_;
  std::atomic<int64_t> heard_ns_{0};
  std::atomic<int64_t> lease_ns_{0};
  std::atomic<uint64_t> epoch_{0};

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool attached_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace benchfleet
