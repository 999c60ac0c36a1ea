// Answers the coordinator's clock probes, on a connection of its own.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>
#include <thread>

#include "benchfleet/v1/fleet.grpc.pb.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace benchfleet {

// Runs from construction to destruction; calls anew when the call breaks.
class ClockAnswerer {
 public:
  ClockAnswerer(const std::string& coordinator, std::string agent_id,
                std::string instance_id, const Clock& clock);
  ~ClockAnswerer();

 private:
  void Run();
  void AnswerOneCall(grpc::ClientContext& context);

  const std::string agent_id_, instance_id_;
  const Clock& clock_;
  const std::shared_ptr<grpc::Channel> channel_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::thread thread_;
};

}  // namespace benchfleet
