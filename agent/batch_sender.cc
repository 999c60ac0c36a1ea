#include "agent/batch_sender.h"

#include <thread>
#include <utility>
#include <vector>

#include "common/grpc_status.h"

namespace benchfleet {
namespace {

constexpr size_t kMaxUnacked = 16;
// gRPC kills streams over messages of 4 MiB.
constexpr size_t kBatchBytes = 256 * 1024;
constexpr absl::Duration kBatchWait = absl::Milliseconds(100);
constexpr absl::Duration kRetryWait = absl::Milliseconds(500);
// A minute of them: the run must learn that nothing will come.
constexpr int kMostBreaks = 120;

// The coordinator answered, and asking again would not change it.
bool IsFinal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return false;
    default:
      return true;
  }
}

}  // namespace

BatchSender::BatchSender(std::shared_ptr<grpc::Channel> channel, Source source,
                         TimingRecorder& recorder)
    : channel_(std::move(channel)),
      source_(std::move(source)),
      recorder_(recorder) {}

absl::Status BatchSender::Run() {
  while (true) {
    const absl::Status status = RunCall();
    if (status.ok() || IsFinal(status)) return status;
    MutexLock lock(mutex_);
    if (++breaks_ > kMostBreaks) return status;
    if (!abandoned_) changed_.WaitFor(mutex_, kRetryWait);
    if (abandoned_) return absl::CancelledError("results were abandoned");
  }
}

void BatchSender::Abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
  if (context_ != nullptr) context_->TryCancel();
  changed_.NotifyAll();
}

absl::Status BatchSender::RunCall() {
  grpc::ClientContext context;
  {
    MutexLock lock(mutex_);
    if (abandoned_) return absl::CancelledError("results were abandoned");
    context_ = &context;
    call_broken_ = false;
  }
  auto stub = v1::FleetService::NewStub(channel_);
  std::unique_ptr<Call> call = stub->ReportTimings(&context);
  std::thread acks([this, &call] { ReadAcks(*call); });
  absl::Status sent = SendAll(*call);
  // No cancel if it broke: Finish would forget what the coordinator said.
  call->WritesDone();
  acks.join();
  absl::Status status = FromGrpc(call->Finish());
  MutexLock lock(mutex_);
  context_ = nullptr;
  if (sent.ok() && unacked_.empty()) return absl::OkStatus();
  return status.ok() ? absl::UnavailableError("the call ended early") : status;
}

absl::Status BatchSender::SendAll(Call& call) {
  const absl::Status broken = absl::UnavailableError("the call broke");
  std::vector<v1::TimingBatch> again;
  {
    MutexLock lock(mutex_);
    again.assign(unacked_.begin(), unacked_.end());
  }
  for (const v1::TimingBatch& batch : again) {
    if (!call.Write(batch)) return broken;
  }
  while (!recorder_.drained()) {
    v1::TimingBatch batch;
    if (!WaitForRoom()) return broken;
    if (!NextBatch(batch)) continue;
    {
      MutexLock lock(mutex_);
      unacked_.push_back(batch);
    }
    if (!call.Write(batch)) return broken;
  }
  return WaitForAcks() ? absl::OkStatus() : broken;
}

bool BatchSender::NextBatch(v1::TimingBatch& batch) {
  std::vector<v1::RequestTiming> timings =
      recorder_.NextBatch(kBatchWait, kBatchBytes);
  if (timings.empty()) return false;
  *batch.mutable_attempt() = source_.attempt;
  batch.set_agent_id(source_.agent_id);
  batch.set_instance_id(source_.instance_id);
  batch.set_seq(++last_seq_);
  for (v1::RequestTiming& timing : timings) {
    *batch.add_timings() = std::move(timing);
  }
  return true;
}

void BatchSender::ReadAcks(Call& call) {
  v1::BatchAck ack;
  while (call.Read(&ack)) {
    MutexLock lock(mutex_);
    breaks_ = 0;
    while (!unacked_.empty() && unacked_.front().seq() <= ack.seq()) {
      unacked_.pop_front();
    }
    changed_.NotifyAll();
  }
  MutexLock lock(mutex_);
  call_broken_ = true;
  changed_.NotifyAll();
}

bool BatchSender::WaitForRoom() {
  MutexLock lock(mutex_);
  while (unacked_.size() >= kMaxUnacked && !call_broken_ && !abandoned_) {
    changed_.Wait(mutex_);
  }
  return !call_broken_ && !abandoned_;
}

bool BatchSender::WaitForAcks() {
  MutexLock lock(mutex_);
  while (!unacked_.empty() && !call_broken_ && !abandoned_) {
    changed_.Wait(mutex_);
  }
  return unacked_.empty();
}

}  // namespace benchfleet
