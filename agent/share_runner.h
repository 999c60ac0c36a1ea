// One share of an attempt on this agent: prepare, wait for the start, load,
// deliver.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "agent/batch_sender.h"
#include "agent/load/load_loop.h"
#include "agent/load/ticket_inbox.h"
#include "agent/load/timing_recorder.h"
#include "agent/preflight.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace benchfleet {

// Thread-safe. Runs on a thread of its own from construction; every phase ends
// with exactly one of Finished and Refused, unless it is abandoned.
class ShareRunner {
 public:
  struct Options {
    std::string coordinator, agent_id, instance_id;
  };
  // Must not wait. Called with no lock of this class held: the session that
  // it belongs to takes its own, and calls in with that one held.
  using Say = std::function<void(v1::AgentMessage)>;

  ShareRunner(Options options, v1::Prepare prepare, const Clock& clock,
              Say say);
  // Abandons what is left and waits for the thread.
  ~ShareRunner();

  const v1::AttemptRef& attempt() const { return prepare_.attempt(); }
  bool over() const;

  void Arm(Instant t0);
  void AddTickets(const v1::Tickets& tickets);
  // Cuts the load; what is known is still delivered.
  void Stop();
  // As Stop, and gives up on delivery: the coordinator is gone.
  void Abandon();
  v1::ShareProgress Progress() const;

 private:
  bool stopped() const;
  void SayProgress();
  void Run();
  Refusal PrepareShare();
  // Makes the transport; returns the address that requests go to.
  absl::StatusOr<std::string> OpenTransport(const v1::ShareSpec& share);
  // Absent: stopped before.
  std::optional<Instant> WaitForArm();
  void LoadAndDeliver(Instant t0);
  void SayFinished(const LoadResult& result);
  void SayRefused(const Refusal& refusal);

  const Options options_;
  const v1::Prepare prepare_;
  const Clock& clock_;
  const Say say_;

  TicketInbox inbox_;
  TimingRecorder recorder_;
  BatchSender sender_;
  std::unique_ptr<HttpTransport> transport_;
  LoadPlan plan_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::optional<Instant> t0_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  // Set while the loop runs and after; lives until destruction.
  std::unique_ptr<LoadLoop> loop_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace benchfleet
