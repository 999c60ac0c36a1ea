// AgentLink over a gRPC stream.
#pragma once

#include <grpcpp/server_context.h>

#include <memory>
#include <string>
#include <thread>

#include "benchfleet/v1/fleet.grpc.pb.h"
#include "common/bounded_queue.h"
#include "coordinator/run/agent_link.h"

namespace benchfleet {

// Shared by the stream's own thread and by whoever holds the link; outlives
// the stream. Messages to an ended stream go nowhere.
class AgentStream final : public AgentLink {
 public:
  using Stream =
      grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>;

  explicit AgentStream(grpc::ServerContext& context);

  // Writes what is sent, until End. On a thread of the stream's call.
  void WriteLoop(Stream& stream);
  // The call is about to return: context and stream are not used after.
  void End();
  // For the thread that answers the clock call: true if a sample is wanted.
  bool WaitForProbe(absl::Duration timeout);
  bool ended() const;

  void Send(const v1::CoordinatorMessage& message) override;
  void ProbeClock() override;
  void Close() override;

 private:
  BoundedQueue<v1::CoordinatorMessage> outbox_;
  BoundedQueue<int> probes_;
  mutable Mutex mutex_;
  grpc::ServerContext* context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace benchfleet
