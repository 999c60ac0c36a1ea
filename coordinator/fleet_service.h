// The gRPC service that agents dial. Owns no logic: registration is the
// pool's, events go to the runner, timings to the ingest.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "benchfleet/v1/fleet.grpc.pb.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/agent_stream.h"
#include "coordinator/run/agent_pool.h"
#include "coordinator/run/fleet_event.h"
#include "coordinator/run/ingest.h"

namespace benchfleet {

// Synchronous: each call has a thread, so that a slow store blocks only the
// agent that waits for it.
class FleetServiceShell final : public v1::FleetService::Service {
 public:
  FleetServiceShell(uint64_t epoch, AgentPool& pool, FleetEvents& events,
                    Ingest& ingest, const Clock& clock)
      : epoch_(epoch),
        pool_(pool),
        events_(events),
        ingest_(ingest),
        clock_(clock) {}

  grpc::Status Attach(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>*
          stream) override;
  grpc::Status ReportTimings(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::BatchAck, v1::TimingBatch>* stream) override;
  grpc::Status ProbeClock(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ClockQuestion, v1::ClockAnswer>* stream)
      override;

 private:
  void Welcome(const v1::Hello& hello, AgentStream& link);
  std::shared_ptr<AgentStream> FindStream(const std::string& agent_id) const;

  const uint64_t epoch_;
  AgentPool& pool_;
  FleetEvents& events_;
  Ingest& ingest_;
  const Clock& clock_;

  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<AgentStream>> streams_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace benchfleet
