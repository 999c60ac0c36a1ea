// Answers the coordinator's clock probes, on a connection of its own.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>
#include <thread>

#include "benchfleet/v1/fleet.grpc.pb.h"
#include "common/clock.h"

namespace benchfleet {

// Runs from construction to destruction.
class ClockAnswerer {
 public:
  ClockAnswerer(const std::string& coordinator, std::string agent_id,
                std::string instance_id, const Clock& clock);
  ~ClockAnswerer();

 private:
  void Run();

  const std::string agent_id_, instance_id_;
  const Clock& clock_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::thread thread_;
};

}  // namespace benchfleet
