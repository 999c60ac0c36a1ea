// Where runs live: what was planned, what was tried, what was measured.
//
//   Run > Engine, Case > Round > Attempt > Share > Request
//
// Facts are stored raw; a round's metrics are derived from the timings of its
// VALID attempt and stored beside them, so that plain sqlite3 can read them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "benchfleet/v1/control.pb.h"
#include "benchfleet/v1/fleet.pb.h"
#include "benchfleet/v1/timing.pb.h"

namespace benchfleet {

// Metrics of a round, in the order of the report and of the views' columns.
inline constexpr std::array<absl::string_view, 20> kRoundMetricNames = {
    "duration",          "request_throughput",
    "output_throughput", "total_token_throughput",
    "mean_ttft_ms",      "p50_ttft_ms",
    "p95_ttft_ms",       "p99_ttft_ms",
    "mean_tpot_ms",      "p50_tpot_ms",
    "p95_tpot_ms",       "p99_tpot_ms",
    "mean_itl_ms",       "p50_itl_ms",
    "p95_itl_ms",        "p99_itl_ms",
    "mean_e2el_ms",      "p50_e2el_ms",
    "p95_e2el_ms",       "p99_e2el_ms"};
// Absent: no sample. Never NaN.
using RoundMetrics =
    std::array<std::optional<double>, kRoundMetricNames.size()>;

struct RunRow {
  int64_t id = 0;
  std::string suite_name;
  std::string suite_text;  // empty if imported
  uint64_t seed = 0;
  std::string model, precision, hardware;
  uint32_t context_window = 0, max_running_requests = 0,
           tensor_parallel_size = 0;
  uint32_t repeats = 0;
  v1::RunState state = v1::RUN_STATE_UNSPECIFIED;
  std::string verdict;  // PASS, FAIL or empty
  std::vector<std::string> reasons;
  absl::Time created, finished;
  bool imported = false;
  // Of an imported file, as they stood; else empty.
  std::string statistics, scope, imported_sha256;
};

struct EngineRow {
  std::string name;
  std::string kind;  // VLLM, ...; empty if imported
  std::string base_url, model;
  bool insecure_skip_verify = false;
};

struct CaseRow {
  std::string id;
  uint32_t input_tokens = 0, output_tokens = 0, concurrency = 0, requests = 0,
           warmup_requests = 0;
  bool allow_wrong_length = false;
};

enum class RoundState { kPending, kValid, kGivenUp };

struct RoundRow {
  int64_t id = 0;
  uint32_t index = 0, engine = 0, case_index = 0, repeat = 0;
  uint64_t request_seed = 0, warmup_seed = 0;
  RoundState state = RoundState::kPending;
};

// What a counted round came to. For imported rounds the file's figures.
struct RoundResult {
  int64_t attempt_id = 0;  // 0 if imported
  int64_t completed = 0, failed = 0;
  int64_t total_input_tokens = 0, total_output_tokens = 0;
  std::string source_sha256;
  RoundMetrics metrics;

  // Beyond the reference's columns; absent if imported.
  int64_t wrong_length = 0, wrong_input_length = 0, usage_inconsistent = 0;
  int64_t new_connections = 0, coalesced = 0;
  // Hash over (ordinal, body hash): equal for equal request sets.
  std::string request_set_sha256;
  std::optional<double> duration_bound_s;  // error bound of `duration`
  std::optional<double> concurrency_utilisation, tokens_per_chunk;
  uint32_t agents = 0;
};

enum class AttemptKind { kCounted, kWarmup };
enum class AttemptVerdict { kOpen, kValid, kInvalid, kAborted };

struct AttemptRow {
  int64_t id = 0;
  int64_t round_id = 0;
  AttemptKind kind = AttemptKind::kCounted;
  uint32_t number = 0;  // from 1 within (round, kind)
  uint64_t epoch = 0;
  uint32_t requests = 0;
  AttemptVerdict verdict = AttemptVerdict::kOpen;
  std::string reason;
  absl::Time started, finished;
  int64_t start_skew_ns = 0;
};

struct ShareRow {
  std::string agent_id, instance_id, hostname, build_id;
  uint32_t concurrency = 0;
  // coordinator time = agent time + offset, both monotonic, +- bound.
  int64_t clock_offset_ns = 0, clock_bound_ns = 0;
  int64_t t0_ns = 0, first_sent_ns = 0;
  v1::ShareManifest manifest = {};
  v1::ShareEvidence evidence = {};
};

// One stored rule of validity.
struct RuleRow {
  std::string rule;
  std::string agent_id = {};  // empty: of the attempt
  double value = 0, threshold = 0;
  bool ok = true;
};

struct AgentRow {
  std::string agent_id, instance_id, build_id;
  v1::HostFacts host;
  uint32_t max_concurrency = 0, weight = 1;
  absl::Time last_seen;
};

struct StoredTiming {
  std::string agent_id;
  v1::RequestTiming timing;
};

struct NewRun {
  RunRow run;  // id ignored
  std::vector<EngineRow> engines;
  std::vector<CaseRow> cases;
  std::vector<RoundRow> rounds;  // ids ignored
  // For imports: one per round, same order; else empty.
  std::vector<RoundResult> results;
};

// Lives on one thread. Every write is one transaction, durable on return.
// Errors name the database file. A store opened for reading refuses writes
// with FailedPrecondition.
class RoundStore {
 public:
  virtual ~RoundStore() = default;

  // --- writing ---
  // Adds 1 at each start of a coordinator; returns the new epoch. Open
  // attempts of earlier epochs become ABORTED(coordinator_restart).
  virtual absl::StatusOr<uint64_t> BeginEpoch() = 0;
  virtual absl::StatusOr<int64_t> CreateRun(const NewRun& run) = 0;
  virtual absl::Status SetRunState(int64_t run_id, v1::RunState state,
                                   absl::string_view verdict,
                                   absl::Span<const std::string> reasons,
                                   absl::Time now) = 0;
  // Stores the attempt with its shares; returns its id.
  virtual absl::StatusOr<int64_t> BeginAttempt(
      const AttemptRow& attempt, absl::Span<const ShareRow> shares) = 0;
  // Appends one batch. A seq already stored is a no-op; a gap is
  // OutOfRange; a closed or unknown attempt is FailedPrecondition. Returns
  // the highest contiguous seq stored for (attempt, agent, instance).
  virtual absl::StatusOr<uint64_t> AppendTimings(
      const v1::TimingBatch& batch) = 0;
  // Closes the attempt, with final facts of its shares and all rules.
  virtual absl::Status FinishAttempt(const AttemptRow& attempt,
                                     absl::Span<const ShareRow> shares,
                                     absl::Span<const RuleRow> rules) = 0;
  virtual absl::Status SetRoundState(int64_t round_id, RoundState state) = 0;
  // Stores the result and makes the round VALID.
  virtual absl::Status StoreRoundResult(int64_t round_id,
                                        const RoundResult& result) = 0;
  virtual absl::Status UpsertAgent(const AgentRow& agent) = 0;
  // Moves the write-ahead log into the file. Cheap; call between rounds.
  virtual absl::Status Checkpoint() = 0;

  // --- reading ---
  virtual absl::StatusOr<std::vector<RunRow>> Runs() = 0;
  // run_id 0: the latest. NotFound says which runs there are.
  virtual absl::StatusOr<RunRow> Run(int64_t run_id) = 0;
  virtual absl::StatusOr<std::vector<EngineRow>> Engines(int64_t run_id) = 0;
  virtual absl::StatusOr<std::vector<CaseRow>> Cases(int64_t run_id) = 0;
  virtual absl::StatusOr<std::vector<RoundRow>> Rounds(int64_t run_id) = 0;
  // Absent for rounds without a VALID attempt.
  virtual absl::StatusOr<std::optional<RoundResult>> Result(
      int64_t round_id) = 0;
  virtual absl::StatusOr<std::vector<AttemptRow>> Attempts(
      int64_t round_id) = 0;
  virtual absl::StatusOr<std::vector<ShareRow>> Shares(int64_t attempt_id) = 0;
  virtual absl::StatusOr<std::vector<RuleRow>> Rules(int64_t attempt_id) = 0;
  // By ordinal.
  virtual absl::StatusOr<std::vector<StoredTiming>> Timings(
      int64_t attempt_id) = 0;
  virtual absl::StatusOr<std::vector<AgentRow>> Agents() = 0;
  // Run of an imported file with this hash, if any.
  virtual absl::StatusOr<std::optional<int64_t>> FindImport(
      absl::string_view sha256) = 0;
};

}  // namespace benchfleet
