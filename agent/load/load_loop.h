// Closed-loop load: keeps the share's slots busy with the tickets it is given,
// and records what happened to each request.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/http/http_transport.h"
#include "agent/load/loop_watch.h"
#include "agent/load/ticket_inbox.h"
#include "agent/load/timing_recorder.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/clock.h"

namespace benchfleet {

class LoadSlot;

// Longest waits within one answer.
struct TokenTimeouts {
  absl::Duration first = absl::Seconds(600);    // sent to first content chunk
  absl::Duration between = absl::Seconds(120);  // then to the next, or the end
};

struct LoadPlan {
  v1::ShareSpec share;
  std::string url;
  // Of every request; x-request-id is added.
  std::vector<std::string> headers;
  // Masked in error texts. May be empty.
  std::string key;
  HttpTimeouts timeouts;
  TokenTimeouts token_timeouts;
  std::string request_id_prefix;
  Instant t0;  // nothing is sent before
};

// Read by other threads while the loop runs.
struct LoadCounters {
  std::atomic<uint64_t> completed{0}, failed{0}, cancelled{0}, in_flight{0},
      output_tokens{0};
};

struct LoadResult {
  Instant first_sent;  // 0: nothing was sent
  uint64_t records = 0;
  v1::ShareEvidence evidence;
};

// One thread, no locks on the way of a token. Every ticket that was taken gets
// exactly one record; those not started when Stop comes are recorded as
// cancelled.
class LoadLoop {
 public:
  // Called on the loop's thread when it could use more tickets; at most one
  // call is unanswered at a time. Must not wait.
  using AskForTickets =
      std::function<void(uint32_t idle_slots, uint32_t spare, uint32_t want)>;

  LoadLoop(LoadPlan plan, HttpTransport& transport, const Clock& clock,
           TicketInbox& inbox, TimingRecorder& recorder, AskForTickets ask);
  ~LoadLoop();

  // Until every ticket is used and no more will come, or Stop.
  LoadResult Run();

  // Thread-safe; repeated calls are harmless. Cuts what is in flight.
  void Stop();
  const LoadCounters& counters() const { return counters_; }

 private:
  bool Over() const;
  void TakeNews();
  void AskIfShort();
  void StartDue(Instant now);
  void StartOn(LoadSlot& slot, ReadyRequest request);
  void RecordEnded();
  void RecordUnstarted();
  void CutLingering(Instant now);
  // Looks at all slots, but only when one of them can be too late.
  void CutLate(Instant now);
  void CutAll();
  void Count(const v1::RequestTiming& timing);
  Instant NextWake(Instant now) const;

  const LoadPlan plan_;
  HttpTransport& transport_;
  const Clock& clock_;
  TicketInbox& inbox_;
  TimingRecorder& recorder_;
  const AskForTickets ask_;

  std::vector<std::unique_ptr<LoadSlot>> slots_;
  std::vector<LoadSlot*> idle_;
  std::vector<LoadSlot*> ended_;      // filled by slots within Poll
  std::vector<LoadSlot*> lingering_;  // stream over, connection not
  std::deque<ReadyRequest> tickets_;
  TicketInbox::Supply supply_;
  bool asked_ = false;
  std::atomic<bool> stop_{false};
  bool cut_ = false;
  Instant next_late_check_{INT64_MAX};
  LoopWatch watch_;
  LoadCounters counters_;
  LoadResult result_;
};

}  // namespace benchfleet
