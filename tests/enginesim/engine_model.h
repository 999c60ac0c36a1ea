// The pure model of an engine: a waiting queue, continuous batching, and the
// time of each token. Driven in virtual time by tests, in real time by the
// server: both call AdvanceTo with their own idea of now.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/random.h"
#include "tests/enginesim/profile.h"

namespace benchfleet::enginesim {

struct ModelRequest {
  uint64_t id = 0;  // unique among the open ones
  uint32_t prompt_tokens = 0;
  uint32_t output_tokens = 0;  // > 0
  int64_t arrival_ns = 0;
};

struct TokenEvent {
  int64_t at_ns = 0;
  uint64_t request = 0;
  uint32_t index = 0;  // 0-based
  bool last = false;
};

// Times are ns from any zero. Deterministic in (profile, seed, calls). Never
// looks ahead of AdvanceTo's now. Thread-compatible.
class EngineModel {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  EngineModel(const Profile& profile, uint64_t seed);

  // An arrival earlier than the last AdvanceTo counts as arriving then.
  void Add(const ModelRequest& request);
  // Forgets a request wherever it is; unknown ids are ignored.
  void Cancel(uint64_t id);

  // When AdvanceTo has something to do next; kNever if idle.
  int64_t NextEventNs() const;
  // Appends the tokens due at or before now_ns, in order of time.
  void AdvanceTo(int64_t now_ns, std::vector<TokenEvent>& out);

  // Admitted and not finished; not yet admitted.
  size_t running() const { return running_.size(); }
  size_t waiting() const { return inbox_.size() + waiting_.size(); }

 private:
  struct Request {
    uint32_t prompt_tokens = 0;
    uint32_t output_tokens = 0;
    uint32_t prefilled = 0;  // prompt tokens in steps up to now
    uint32_t planned = 0;    // output tokens in steps up to now
    uint32_t produced = 0;   // of them, in steps that ended
  };
  struct Arrival {
    int64_t visible_ns;
    uint64_t id;
  };
  struct Step {
    std::vector<uint64_t> producing;  // each yields one token
    uint32_t decodes = 0;
    uint32_t prefill_tokens = 0;
    double prefill_pairs = 0;
    double context_tokens = 0;  // of the decodes
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    bool empty() const { return decodes == 0 && prefill_tokens == 0; }
  };

  int64_t NextInternalNs() const;
  void Process(int64_t now_ns);
  void StartFromIdle(int64_t now_ns);
  void ClosePlanning(int64_t now_ns);
  void EndStep(int64_t now_ns);
  void Start(Step step, int64_t now_ns);

  void TakeArrivals(int64_t now_ns);
  Step Plan();
  void PlanDecodes(Step& step, uint32_t& budget);
  void PlanPrefills(Step& step, uint32_t& budget);
  void PlanChunk(uint64_t id, Request& request, Step& step, uint32_t& budget);

  int64_t StepNs(const Step& step);
  double Uniform();
  // Returns how many requests finished.
  size_t Produce(const Step& step, int64_t at_ns);

  const Profile profile_;
  Random random_;
  absl::flat_hash_map<uint64_t, Request> requests_;
  std::deque<Arrival> inbox_;     // not yet visible to the scheduler
  std::deque<uint64_t> waiting_;  // visible, not admitted
  std::vector<uint64_t> running_;
  std::deque<TokenEvent> due_;

  bool busy_ = false;
  Step current_;
  Step next_;  // mixed only; planned while current_ runs
  // When the open plan (current_ or next_) closes; kNever if none is open.
  int64_t close_ns_ = kNever;
  int64_t now_ns_ = std::numeric_limits<int64_t>::min();
  int64_t last_visible_ns_ = std::numeric_limits<int64_t>::min() / 2;
  double last_decode_ms_ = 0;
};

}  // namespace benchfleet::enginesim
