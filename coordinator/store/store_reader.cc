#include "coordinator/store/store_reader.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "coordinator/store/row_text.h"

namespace benchfleet {
namespace {

// All rows of a query, each by `read(statement) -> StatusOr<Row>`.
template <typename Row, typename Read, typename... Values>
absl::StatusOr<std::vector<Row>> ReadAll(Database& db, absl::string_view sql,
                                         Read read, const Values&... values) {
  ASSIGN_OR_RETURN(Statement statement, db.Prepare(sql));
  statement.Bind(values...);
  std::vector<Row> rows;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return rows;
    ASSIGN_OR_RETURN(Row row, read(statement));
    rows.push_back(std::move(row));
  }
}

constexpr char kRunColumns[] =
    "SELECT id, suite_name, suite_text, seed, model, precision, hardware,"
    " context_window, max_running_requests, tensor_parallel_size, repeats,"
    " state, verdict, created_unix_ns, finished_unix_ns, imported, statistics,"
    " scope, imported_sha256 FROM runs ";

absl::StatusOr<RunRow> RunOf(const Statement& row) {
  RunRow run;
  run.id = row.Int(0);
  run.suite_name = row.Text(1);
  run.suite_text = row.Text(2);
  ASSIGN_OR_RETURN(run.seed, SeedOf(row.View(3)));
  run.model = row.Text(4);
  run.precision = row.Text(5);
  run.hardware = row.Text(6);
  run.context_window = row.Uint32(7);
  run.max_running_requests = row.Uint32(8);
  run.tensor_parallel_size = row.Uint32(9);
  run.repeats = row.Uint32(10);
  ASSIGN_OR_RETURN(run.state, RunStateOf(row.View(11)));
  run.verdict = row.Text(12);
  run.created = FromUnixNs(row.Int(13));
  run.finished = FromUnixNs(row.Int(14));
  run.imported = row.Bool(15);
  run.statistics = row.Text(16);
  run.scope = row.Text(17);
  run.imported_sha256 = row.Text(18);
  return run;
}

absl::Status AddReasons(Database& db, RunRow* run) {
  ASSIGN_OR_RETURN(
      run->reasons,
      ReadAll<std::string>(
          db,
          "SELECT reason FROM run_reasons WHERE run_id = ? ORDER BY position",
          [](const Statement& row) -> absl::StatusOr<std::string> {
            return row.Text(0);
          },
          run->id));
  return absl::OkStatus();
}

absl::Status NoSuchRun(Database& db, int64_t run_id) {
  constexpr size_t kShown = 20;
  ASSIGN_OR_RETURN(std::vector<std::string> ids,
                   ReadAll<std::string>(
                       db, "SELECT id FROM runs ORDER BY id DESC LIMIT 21",
                       [](const Statement& row) -> absl::StatusOr<std::string> {
                         return row.Text(0);
                       }));
  if (ids.empty()) {
    return absl::NotFoundError(absl::StrCat(db.path(), ": holds no runs yet"));
  }
  const bool more = ids.size() > kShown;
  if (more) ids.pop_back();
  return absl::NotFoundError(
      absl::StrCat(db.path(), ": there is no run ", run_id, "; there are ",
                   absl::StrJoin(ids, ", "), more ? ", ..." : ""));
}

double NumberOrNan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

absl::StatusOr<EngineRow> EngineOf(const Statement& row) {
  return EngineRow{row.Text(0), row.Text(1), row.Text(2), row.Text(3),
                   row.Bool(4)};
}

absl::StatusOr<CaseRow> CaseOf(const Statement& row) {
  return CaseRow{row.Text(0),   row.Uint32(1), row.Uint32(2), row.Uint32(3),
                 row.Uint32(4), row.Uint32(5), row.Bool(6)};
}

absl::StatusOr<RoundRow> RoundOf(const Statement& row) {
  RoundRow round;
  round.id = row.Int(0);
  round.index = row.Uint32(1);
  round.engine = row.Uint32(2);
  round.case_index = row.Uint32(3);
  round.repeat = row.Uint32(4);
  ASSIGN_OR_RETURN(round.request_seed, SeedOf(row.View(5)));
  ASSIGN_OR_RETURN(round.warmup_seed, SeedOf(row.View(6)));
  ASSIGN_OR_RETURN(round.state, RoundStateOf(row.View(7)));
  return round;
}

absl::StatusOr<RoundResult> ResultOf(const Statement& row) {
  RoundResult result;
  int column = 0;
  result.attempt_id = row.Int(column++);
  result.completed = row.Int(column++);
  result.failed = row.Int(column++);
  result.total_input_tokens = row.Int(column++);
  result.total_output_tokens = row.Int(column++);
  result.source_sha256 = row.Text(column++);
  for (std::optional<double>& metric : result.metrics) {
    metric = row.OptionalReal(column++);
  }
  result.wrong_length = row.Int(column++);
  result.wrong_input_length = row.Int(column++);
  result.usage_inconsistent = row.Int(column++);
  result.new_connections = row.Int(column++);
  result.coalesced = row.Int(column++);
  result.request_set_sha256 = row.Text(column++);
  result.duration_bound_s = row.OptionalReal(column++);
  result.concurrency_utilisation = row.OptionalReal(column++);
  result.tokens_per_chunk = row.OptionalReal(column++);
  result.agents = row.Uint32(column++);
  return result;
}

absl::StatusOr<AttemptRow> AttemptOf(const Statement& row) {
  AttemptRow attempt;
  attempt.id = row.Int(0);
  attempt.round_id = row.Int(1);
  ASSIGN_OR_RETURN(attempt.kind, AttemptKindOf(row.View(2)));
  attempt.number = row.Uint32(3);
  attempt.epoch = row.Uint(4);
  attempt.requests = row.Uint32(5);
  ASSIGN_OR_RETURN(attempt.verdict, AttemptVerdictOf(row.View(6)));
  attempt.reason = row.Text(7);
  attempt.started = FromUnixNs(row.Int(8));
  attempt.finished = FromUnixNs(row.Int(9));
  attempt.start_skew_ns = row.Int(10);
  return attempt;
}

absl::StatusOr<ShareRow> ShareOf(const Statement& row) {
  ShareRow share;
  share.agent_id = row.Text(0);
  share.instance_id = row.Text(1);
  share.hostname = row.Text(2);
  share.build_id = row.Text(3);
  share.concurrency = row.Uint32(4);
  share.clock_offset_ns = row.Int(5);
  share.clock_bound_ns = row.Int(6);
  share.t0_ns = row.Int(7);
  share.first_sent_ns = row.Int(8);
  share.manifest.set_records(row.Uint(9));
  share.manifest.set_last_seq(row.Uint(10));
  share.manifest.set_completed(row.Uint(11));
  share.manifest.set_failed(row.Uint(12));
  share.manifest.set_cancelled(row.Uint(13));
  share.evidence.set_loop_cpu_ns(row.Uint(14));
  share.evidence.set_loop_wall_ns(row.Uint(15));
  share.evidence.set_loop_longest_turn_ns(row.Uint(16));
  share.evidence.set_loop_lag_p99_ns(row.Uint(17));
  share.evidence.set_run_queue_delay_ns(row.Uint(18));
  share.evidence.set_slot_turnaround_p50_ns(row.Uint(19));
  share.evidence.set_slot_turnaround_p99_ns(row.Uint(20));
  share.evidence.set_longest_stall_ns(row.Uint(21));
  return share;
}

absl::StatusOr<AgentRow> AgentOf(const Statement& row) {
  AgentRow agent;
  agent.agent_id = row.Text(0);
  agent.instance_id = row.Text(1);
  agent.build_id = row.Text(2);
  agent.host.set_hostname(row.Text(3));
  agent.host.set_kernel(row.Text(4));
  agent.host.set_cpu_model(row.Text(5));
  agent.host.set_cpus(row.Uint32(6));
  agent.host.set_memory_bytes(row.Uint(7));
  agent.host.set_max_open_files(row.Uint(8));
  agent.max_concurrency = row.Uint32(9);
  agent.weight = row.Uint32(10);
  agent.last_seen = FromUnixNs(row.Int(11));
  return agent;
}

}  // namespace

absl::StatusOr<std::vector<RunRow>> ReadRuns(Database& db) {
  ASSIGN_OR_RETURN(
      std::vector<RunRow> runs,
      ReadAll<RunRow>(db, absl::StrCat(kRunColumns, "ORDER BY id"), RunOf));
  for (RunRow& run : runs) RETURN_IF_ERROR(AddReasons(db, &run));
  return runs;
}

absl::StatusOr<RunRow> ReadRun(Database& db, int64_t run_id) {
  ASSIGN_OR_RETURN(
      std::vector<RunRow> runs,
      ReadAll<RunRow>(db,
                      absl::StrCat(kRunColumns,
                                   "WHERE id = CASE ?1 WHEN 0 THEN"
                                   " (SELECT max(id) FROM runs) ELSE ?1 END"),
                      RunOf, run_id));
  if (runs.empty()) return NoSuchRun(db, run_id);
  RETURN_IF_ERROR(AddReasons(db, &runs[0]));
  return std::move(runs[0]);
}

absl::StatusOr<std::vector<EngineRow>> ReadEngines(Database& db,
                                                   int64_t run_id) {
  return ReadAll<EngineRow>(
      db,
      "SELECT name, kind, base_url, model, insecure_skip_verify FROM engines"
      " WHERE run_id = ? ORDER BY position",
      EngineOf, run_id);
}

absl::StatusOr<std::vector<CaseRow>> ReadCases(Database& db, int64_t run_id) {
  return ReadAll<CaseRow>(
      db,
      "SELECT case_id, input_tokens, output_tokens, concurrency, requests,"
      " warmup_requests, allow_wrong_length FROM cases WHERE run_id = ?"
      " ORDER BY position",
      CaseOf, run_id);
}

absl::StatusOr<std::vector<RoundRow>> ReadRounds(Database& db, int64_t run_id) {
  return ReadAll<RoundRow>(
      db,
      "SELECT id, position, engine, case_position, repeat, request_seed,"
      " warmup_seed, state FROM rounds WHERE run_id = ? ORDER BY position",
      RoundOf, run_id);
}

absl::StatusOr<std::optional<RoundResult>> ReadResult(Database& db,
                                                      int64_t round_id) {
  ASSIGN_OR_RETURN(
      std::vector<RoundResult> results,
      ReadAll<RoundResult>(
          db,
          "SELECT attempt_id, completed, failed, total_input_tokens,"
          " total_output_tokens, source_sha256, duration, request_throughput,"
          " output_throughput, total_token_throughput, mean_ttft_ms,"
          " p50_ttft_ms, p95_ttft_ms, p99_ttft_ms, mean_tpot_ms, p50_tpot_ms,"
          " p95_tpot_ms, p99_tpot_ms, mean_itl_ms, p50_itl_ms, p95_itl_ms,"
          " p99_itl_ms, mean_e2el_ms, p50_e2el_ms, p95_e2el_ms, p99_e2el_ms,"
          " wrong_length, wrong_input_length, usage_inconsistent,"
          " new_connections, coalesced, request_set_sha256, duration_bound_s,"
          " concurrency_utilisation, tokens_per_chunk, agents"
          " FROM round_results WHERE round_id = ?",
          ResultOf, round_id));
  if (results.empty()) return std::optional<RoundResult>();
  return std::optional<RoundResult>(std::move(results[0]));
}

absl::StatusOr<std::vector<AttemptRow>> ReadAttempts(Database& db,
                                                     int64_t round_id) {
  return ReadAll<AttemptRow>(
      db,
      "SELECT id, round_id, kind, number, epoch, requests, verdict, reason,"
      " started_unix_ns, finished_unix_ns, start_skew_ns FROM attempts"
      " WHERE round_id = ? ORDER BY id",
      AttemptOf, round_id);
}

absl::StatusOr<std::vector<ShareRow>> ReadShares(Database& db,
                                                 int64_t attempt_id) {
  return ReadAll<ShareRow>(
      db,
      "SELECT agent_id, instance_id, hostname, build_id, concurrency,"
      " clock_offset_ns, clock_bound_ns, t0_ns, first_sent_ns,"
      " manifest_records, manifest_last_seq, manifest_completed,"
      " manifest_failed, manifest_cancelled, loop_cpu_ns, loop_wall_ns,"
      " loop_longest_turn_ns, loop_lag_p99_ns, run_queue_delay_ns,"
      " slot_turnaround_p50_ns, slot_turnaround_p99_ns, longest_stall_ns"
      " FROM shares WHERE attempt_id = ? ORDER BY agent_id, instance_id",
      ShareOf, attempt_id);
}

absl::StatusOr<std::vector<RuleRow>> ReadRules(Database& db,
                                               int64_t attempt_id) {
  return ReadAll<RuleRow>(
      db,
      "SELECT rule, agent_id, value, threshold, ok FROM rules"
      " WHERE attempt_id = ? ORDER BY position",
      [](const Statement& row) -> absl::StatusOr<RuleRow> {
        return RuleRow{row.Text(0), row.Text(1),
                       NumberOrNan(row.OptionalReal(2)),
                       NumberOrNan(row.OptionalReal(3)), row.Bool(4)};
      },
      attempt_id);
}

absl::StatusOr<std::vector<AgentRow>> ReadAgents(Database& db) {
  return ReadAll<AgentRow>(
      db,
      "SELECT agent_id, instance_id, build_id, hostname, kernel, cpu_model,"
      " cpus, memory_bytes, max_open_files, max_concurrency, weight,"
      " last_seen_unix_ns FROM agents ORDER BY agent_id",
      AgentOf);
}

absl::StatusOr<std::optional<int64_t>> ReadImport(Database& db,
                                                  absl::string_view sha256) {
  if (sha256.empty()) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(const std::vector<int64_t> ids,
                   ReadAll<int64_t>(
                       db, "SELECT id FROM runs WHERE imported_sha256 = ?",
                       [](const Statement& row) -> absl::StatusOr<int64_t> {
                         return row.Int(0);
                       },
                       sha256));
  if (ids.empty()) return std::optional<int64_t>();
  return std::optional<int64_t>(ids[0]);
}

}  // namespace benchfleet
