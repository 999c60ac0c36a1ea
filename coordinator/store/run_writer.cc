#include "coordinator/store/run_writer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/store/row_text.h"

namespace benchfleet {
namespace {

absl::Status CheckRun(const NewRun& run) {
  for (const RoundRow& round : run.rounds) {
    if (round.engine >= run.engines.size() ||
        round.case_index >= run.cases.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "round ", round.index, " names an engine or case that is not there"));
    }
  }
  if (!run.results.empty() && run.results.size() != run.rounds.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("run has ", run.rounds.size(), " rounds but ",
                     run.results.size(), " results"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> InsertRun(Database& db, const RunRow& run) {
  ASSIGN_OR_RETURN(const std::string state, ToText(run.state));
  RETURN_IF_ERROR(db.Run(
      "INSERT INTO runs (suite_name, suite_text, seed, model, precision,"
      " hardware, context_window, max_running_requests, tensor_parallel_size,"
      " repeats, state, verdict, created_unix_ns, finished_unix_ns, imported,"
      " statistics, scope, imported_sha256)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      run.suite_name, run.suite_text, absl::StrCat(run.seed), run.model,
      run.precision, run.hardware, run.context_window, run.max_running_requests,
      run.tensor_parallel_size, run.repeats, state, run.verdict,
      ToUnixNs(run.created), ToUnixNs(run.finished), run.imported,
      run.statistics, run.scope, run.imported_sha256));
  return db.LastInsertId();
}

absl::Status InsertReasons(Database& db, int64_t run_id,
                           absl::Span<const std::string> reasons) {
  for (size_t i = 0; i < reasons.size(); ++i) {
    RETURN_IF_ERROR(db.Run(
        "INSERT INTO run_reasons (run_id, position, reason) VALUES (?,?,?)",
        run_id, uint64_t{i}, reasons[i]));
  }
  return absl::OkStatus();
}

absl::Status InsertEnginesAndCases(Database& db, int64_t run_id,
                                   const NewRun& run) {
  for (size_t i = 0; i < run.engines.size(); ++i) {
    const EngineRow& engine = run.engines[i];
    RETURN_IF_ERROR(
        db.Run("INSERT INTO engines (run_id, position, name, kind, base_url,"
               " model, insecure_skip_verify) VALUES (?,?,?,?,?,?,?)",
               run_id, uint64_t{i}, engine.name, engine.kind, engine.base_url,
               engine.model, engine.insecure_skip_verify));
  }
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const CaseRow& row = run.cases[i];
    RETURN_IF_ERROR(
        db.Run("INSERT INTO cases (run_id, position, case_id, input_tokens,"
               " output_tokens, concurrency, requests, warmup_requests,"
               " allow_wrong_length) VALUES (?,?,?,?,?,?,?,?,?)",
               run_id, uint64_t{i}, row.id, row.input_tokens, row.output_tokens,
               row.concurrency, row.requests, row.warmup_requests,
               row.allow_wrong_length));
  }
  return absl::OkStatus();
}

absl::Status InsertResult(Database& db, int64_t round_id,
                          const RoundResult& r) {
  for (size_t i = 0; i < r.metrics.size(); ++i) {
    if (r.metrics[i] && !std::isfinite(*r.metrics[i])) {
      return absl::InvalidArgumentError(absl::StrCat("round ", round_id, ": ",
                                                     kRoundMetricNames[i],
                                                     " is no finite number"));
    }
  }
  const std::optional<int64_t> attempt =
      r.attempt_id == 0 ? std::nullopt : std::optional(r.attempt_id);
  const RoundMetrics& m = r.metrics;
  return db.Run(
      "INSERT OR REPLACE INTO round_results (round_id, attempt_id, completed,"
      " failed, total_input_tokens, total_output_tokens, source_sha256,"
      " duration, request_throughput, output_throughput,"
      " total_token_throughput, mean_ttft_ms, p50_ttft_ms, p95_ttft_ms,"
      " p99_ttft_ms, mean_tpot_ms, p50_tpot_ms, p95_tpot_ms, p99_tpot_ms,"
      " mean_itl_ms, p50_itl_ms, p95_itl_ms, p99_itl_ms, mean_e2el_ms,"
      " p50_e2el_ms, p95_e2el_ms, p99_e2el_ms, wrong_length,"
      " wrong_input_length, usage_inconsistent, new_connections, coalesced,"
      " request_set_sha256, duration_bound_s, concurrency_utilisation,"
      " tokens_per_chunk, agents) VALUES"
      " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
      "?,?)",
      round_id, attempt, r.completed, r.failed, r.total_input_tokens,
      r.total_output_tokens, r.source_sha256, m[0], m[1], m[2], m[3], m[4],
      m[5], m[6], m[7], m[8], m[9], m[10], m[11], m[12], m[13], m[14], m[15],
      m[16], m[17], m[18], m[19], r.wrong_length, r.wrong_input_length,
      r.usage_inconsistent, r.new_connections, r.coalesced,
      r.request_set_sha256, r.duration_bound_s, r.concurrency_utilisation,
      r.tokens_per_chunk, r.agents);
}

absl::Status InsertRounds(Database& db, int64_t run_id, const NewRun& run) {
  for (size_t i = 0; i < run.rounds.size(); ++i) {
    const RoundRow& round = run.rounds[i];
    RETURN_IF_ERROR(db.Run(
        "INSERT INTO rounds (run_id, position, engine, case_position, repeat,"
        " request_seed, warmup_seed, state) VALUES (?,?,?,?,?,?,?,?)",
        run_id, round.index, round.engine, round.case_index, round.repeat,
        absl::StrCat(round.request_seed), absl::StrCat(round.warmup_seed),
        ToText(round.state)));
    if (run.results.empty()) continue;
    RETURN_IF_ERROR(InsertResult(db, db.LastInsertId(), run.results[i]));
  }
  return absl::OkStatus();
}

bool IsTerminal(v1::RunState state) {
  return state == v1::FINISHED || state == v1::CANCELLED_RUN ||
         state == v1::COULD_NOT_RUN;
}

absl::Status SetState(Database& db, int64_t round_id, RoundState state) {
  RETURN_IF_ERROR(db.Run("UPDATE rounds SET state = ? WHERE id = ?",
                         ToText(state), round_id));
  if (db.Changes() == 1) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(db.path(), ": there is no round ", round_id));
}

// A figure of an attempt that does not count must never stand in a round.
absl::Status CheckCounts(Database& db, int64_t round_id, int64_t attempt_id) {
  ASSIGN_OR_RETURN(
      Statement row,
      db.Prepare("SELECT count(*) FROM attempts WHERE id = ? AND round_id = ?"
                 " AND kind = 'COUNTED' AND verdict = 'VALID'"));
  row.Bind(attempt_id, round_id);
  RETURN_IF_ERROR(row.Step().status());
  if (row.Int(0) == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(db.path(), ": attempt ", attempt_id,
                   " is no VALID counted attempt of round ", round_id));
}

}  // namespace

absl::StatusOr<int64_t> WriteRun(Database& db, const NewRun& run) {
  RETURN_IF_ERROR(CheckRun(run));
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  ASSIGN_OR_RETURN(const int64_t run_id, InsertRun(db, run.run));
  RETURN_IF_ERROR(InsertReasons(db, run_id, run.run.reasons));
  RETURN_IF_ERROR(InsertEnginesAndCases(db, run_id, run));
  RETURN_IF_ERROR(InsertRounds(db, run_id, run));
  RETURN_IF_ERROR(transaction.Commit());
  return run_id;
}

absl::Status WriteRunState(Database& db, int64_t run_id, v1::RunState state,
                           absl::string_view verdict,
                           absl::Span<const std::string> reasons,
                           absl::Time now) {
  ASSIGN_OR_RETURN(const std::string text, ToText(state));
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  RETURN_IF_ERROR(db.Run(
      "UPDATE runs SET state = ?, verdict = ?, finished_unix_ns = ?"
      " WHERE id = ?",
      text, verdict, IsTerminal(state) ? ToUnixNs(now) : int64_t{0}, run_id));
  if (db.Changes() != 1) {
    return absl::NotFoundError(
        absl::StrCat(db.path(), ": there is no run ", run_id));
  }
  RETURN_IF_ERROR(db.Run("DELETE FROM run_reasons WHERE run_id = ?", run_id));
  RETURN_IF_ERROR(InsertReasons(db, run_id, reasons));
  return transaction.Commit();
}

absl::Status WriteRoundState(Database& db, int64_t round_id, RoundState state) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  RETURN_IF_ERROR(SetState(db, round_id, state));
  return transaction.Commit();
}

absl::Status WriteRoundResult(Database& db, int64_t round_id,
                              const RoundResult& result) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  RETURN_IF_ERROR(SetState(db, round_id, RoundState::kValid));
  RETURN_IF_ERROR(CheckCounts(db, round_id, result.attempt_id));
  RETURN_IF_ERROR(InsertResult(db, round_id, result));
  return transaction.Commit();
}

absl::Status WriteAgent(Database& db, const AgentRow& agent) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  RETURN_IF_ERROR(db.Run(
      "INSERT OR REPLACE INTO agents (agent_id, instance_id, build_id,"
      " hostname, kernel, cpu_model, cpus, memory_bytes, max_open_files,"
      " max_concurrency, weight, last_seen_unix_ns)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
      agent.agent_id, agent.instance_id, agent.build_id, agent.host.hostname(),
      agent.host.kernel(), agent.host.cpu_model(), agent.host.cpus(),
      agent.host.memory_bytes(), agent.host.max_open_files(),
      agent.max_concurrency, agent.weight, ToUnixNs(agent.last_seen)));
  return transaction.Commit();
}

}  // namespace benchfleet
