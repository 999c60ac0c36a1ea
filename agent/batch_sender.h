// Delivers a share's timings to the coordinator, each exactly once.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "agent/load/timing_recorder.h"
#include "benchfleet/v1/fleet.grpc.pb.h"
#include "common/mutex.h"

namespace benchfleet {

// Batches are numbered; those not acknowledged are kept and sent again over a
// new call when one breaks. At most kMaxUnacked batches are in flight, so
// memory is bounded and the rest waits in the recorder.
class BatchSender {
 public:
  struct Source {
    v1::AttemptRef attempt;
    std::string agent_id, instance_id;
  };

  BatchSender(std::shared_ptr<grpc::Channel> channel, Source source,
              TimingRecorder& recorder);

  // Until the recorder is drained and everything is acknowledged, Abandon, or
  // the coordinator refuses for good or cannot be reached for a minute.
  absl::Status Run();
  // Thread-safe. Run returns soon with Cancelled.
  void Abandon();
  // After Run.
  uint64_t last_seq() const { return last_seq_; }

 private:
  using Call = grpc::ClientReaderWriter<v1::TimingBatch, v1::BatchAck>;

  // One call, from the first batch not acknowledged.
  absl::Status RunCall();
  absl::Status SendAll(Call& call);
  void ReadAcks(Call& call);
  bool WaitForRoom();
  bool WaitForAcks();
  bool NextBatch(v1::TimingBatch& batch);

  const std::shared_ptr<grpc::Channel> channel_;
  const Source source_;
  TimingRecorder& recorder_;
  uint64_t last_seq_ = 0;

  Mutex mutex_;
  CondVar changed_;
  std::deque<v1::TimingBatch> unacked_ ABSL_GUARDED_BY(mutex_);
  bool call_broken_ ABSL_GUARDED_BY(mutex_) = false;
  // Calls that broke since the last acknowledgement.
  int breaks_ ABSL_GUARDED_BY(mutex_) = 0;
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace benchfleet
