// Executes runs, one after the other: for each round a warm-up, then attempts
// until one is VALID.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/plan/plan.h"
#include "coordinator/run/agent_pool.h"
#include "coordinator/run/attempt_runner.h"
#include "coordinator/run/fleet_event.h"
#include "coordinator/run/ingest.h"
#include "coordinator/run/run_board.h"
#include "coordinator/run/run_progress.h"
#include "coordinator/run/validity.h"

namespace benchfleet {

// How a run ended.
struct RunEnding {
  std::string verdict;  // PASS or FAIL; empty if it was not measured
  std::vector<std::string> reasons;
};

// What a run is made of; stored before it is queued.
struct QueuedRun {
  int64_t run_id = 0;
  Plan plan;
  absl::Duration agent_wait = absl::Seconds(60);
  uint32_t min_agents = 1;
};

// How figures are made, given by those who own the maths.
struct Scoring {
  // Derives and stores the result of a round from its VALID attempt.
  std::function<absl::Status(RoundStore&, int64_t run_id, const RoundRow& round,
                             const AttemptRow& attempt)>
      score_round;
  std::function<absl::StatusOr<RunEnding>(RoundStore&, int64_t run_id)>
      judge_run;
};

// Queue, Cancel and the rest are thread-safe; runs are executed on a thread of
// its own.
class Runner {
 public:
  Runner(uint64_t epoch, Ingest& ingest, AgentPool& pool, FleetEvents& events,
         RunBoard& board, const Clock& clock, Scoring scoring);
  ~Runner();
  // Stops the current attempt and waits for it; the run stays unfinished in
  // the store. What is queued after is left to the next life.
  void Stop();

  void Queue(QueuedRun run);
  // A queued run is over at once, the current one soon. Harmless for runs that
  // are over or unknown.
  void Cancel(int64_t run_id);
  // What an agent works on now, for lists; empty if it is idle.
  std::string BusyWith() const;

 private:
  // The run that is executed.
  struct Current {
    QueuedRun run;
    RunPace pace;
  };
  enum class Next { kGoOn, kEndRun };

  void Loop();
  std::optional<QueuedRun> NextRun();
  void Execute(QueuedRun run);
  // Ends the run if it is cancelled; leaves it if this process stops.
  Next StopIfAsked(Current& run);
  // Until those connected are enough; gives them as they were then.
  Next WaitForAgents(Current& run, std::vector<PooledAgent>& agents);
  Next CheckEngines(Current& run);
  Next CheckEngine(Current& run, int index);
  Next RunRounds(Current& run);
  Next RunRound(Current& run, const RoundRow& round);
  // One try: warm-up if there is one, then the counted attempt.
  Next TryRound(Current& run, const RoundRow& round, uint32_t number,
                bool& valid);
  // Stores and runs an attempt; `row` gets id, verdict and reason.
  absl::StatusOr<AttemptEnd> RunAttempt(Current& run, const RoundRow& round,
                                        std::vector<PooledAgent> agents,
                                        AttemptRow& row);
  absl::Status CloseAttempt(AttemptRow& row, AttemptEnd& end);
  AttemptEnd Drive(Current& run, AttemptOrder order);
  void Finish(Current& run, v1::RunState state, RunEnding verdict);
  Next EndRun(Current& run, v1::RunState state, std::string reason);
  Next AfterStop(Current& run, const AttemptEnd& end);
  void PostAttempt(Current& run, const RoundRow& round, const AttemptRow& row);
  void PostProgress(Current& run, const AttemptProgress& progress);
  bool Cancelled(int64_t run_id) const;

  const uint64_t epoch_;
  Ingest& ingest_;
  AgentPool& pool_;
  FleetEvents& events_;
  RunBoard& board_;
  const Clock& clock_;
  const Scoring scoring_;
  const ValidityLimits limits_;
  // On the runner's thread. Never the id of another check: late messages of
  // one must not pass for the next.
  int64_t last_check_id_ = 0;

  mutable Mutex mutex_;
  std::deque<QueuedRun> queue_ ABSL_GUARDED_BY(mutex_);
  bool executing_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<int64_t> cancelled_ ABSL_GUARDED_BY(mutex_);
  std::string busy_with_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace benchfleet
