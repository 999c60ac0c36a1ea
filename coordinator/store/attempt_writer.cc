#include "coordinator/store/attempt_writer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/store/row_text.h"
#include "coordinator/store/token_blob.h"

namespace benchfleet {
namespace {

// Keeps last_seq of a share that is there.
absl::Status PutShare(Database& db, int64_t attempt_id, const ShareRow& share) {
  const v1::ShareManifest& m = share.manifest;
  const v1::ShareEvidence& e = share.evidence;
  return db.Run(
      "INSERT INTO shares (attempt_id, agent_id, instance_id, hostname,"
      " build_id, concurrency, clock_offset_ns, clock_bound_ns, t0_ns,"
      " first_sent_ns, manifest_records, manifest_last_seq,"
      " manifest_completed, manifest_failed, manifest_cancelled, loop_cpu_ns,"
      " loop_wall_ns, loop_longest_turn_ns, loop_lag_p99_ns,"
      " run_queue_delay_ns, slot_turnaround_p50_ns, slot_turnaround_p99_ns,"
      " longest_stall_ns)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
      " ON CONFLICT (attempt_id, agent_id, instance_id) DO UPDATE SET"
      " hostname = excluded.hostname, build_id = excluded.build_id,"
      " concurrency = excluded.concurrency,"
      " clock_offset_ns = excluded.clock_offset_ns,"
      " clock_bound_ns = excluded.clock_bound_ns, t0_ns = excluded.t0_ns,"
      " first_sent_ns = excluded.first_sent_ns,"
      " manifest_records = excluded.manifest_records,"
      " manifest_last_seq = excluded.manifest_last_seq,"
      " manifest_completed = excluded.manifest_completed,"
      " manifest_failed = excluded.manifest_failed,"
      " manifest_cancelled = excluded.manifest_cancelled,"
      " loop_cpu_ns = excluded.loop_cpu_ns,"
      " loop_wall_ns = excluded.loop_wall_ns,"
      " loop_longest_turn_ns = excluded.loop_longest_turn_ns,"
      " loop_lag_p99_ns = excluded.loop_lag_p99_ns,"
      " run_queue_delay_ns = excluded.run_queue_delay_ns,"
      " slot_turnaround_p50_ns = excluded.slot_turnaround_p50_ns,"
      " slot_turnaround_p99_ns = excluded.slot_turnaround_p99_ns,"
      " longest_stall_ns = excluded.longest_stall_ns",
      attempt_id, share.agent_id, share.instance_id, share.hostname,
      share.build_id, share.concurrency, share.clock_offset_ns,
      share.clock_bound_ns, share.t0_ns, share.first_sent_ns, m.records(),
      m.last_seq(), m.completed(), m.failed(), m.cancelled(), e.loop_cpu_ns(),
      e.loop_wall_ns(), e.loop_longest_turn_ns(), e.loop_lag_p99_ns(),
      e.run_queue_delay_ns(), e.slot_turnaround_p50_ns(),
      e.slot_turnaround_p99_ns(), e.longest_stall_ns());
}

absl::StatusOr<uint32_t> NextNumber(Database& db, const AttemptRow& attempt) {
  if (attempt.number != 0) return attempt.number;
  ASSIGN_OR_RETURN(Statement last,
                   db.Prepare("SELECT coalesce(max(number), 0) FROM attempts"
                              " WHERE round_id = ? AND kind = ?"));
  last.Bind(attempt.round_id, ToText(attempt.kind));
  RETURN_IF_ERROR(last.Step().status());
  return last.Uint32(0) + 1;
}

struct OpenShare {
  bool open = false;
  uint64_t epoch = 0;
  uint32_t requests = 0;
  uint64_t last_seq = 0;
};

absl::StatusOr<OpenShare> FindShare(Database& db,
                                    const v1::TimingBatch& batch) {
  ASSIGN_OR_RETURN(
      Statement * row,
      db.Kept("SELECT attempts.verdict = 'OPEN', attempts.epoch,"
              " attempts.requests, shares.last_seq"
              " FROM shares JOIN attempts ON attempts.id = shares.attempt_id"
              " WHERE shares.attempt_id = ? AND shares.agent_id = ?"
              " AND shares.instance_id = ?"));
  row->Bind(batch.attempt().attempt_id(), batch.agent_id(),
            batch.instance_id());
  ASSIGN_OR_RETURN(const bool found, row->Step());
  if (!found) {
    row->Reset();
    return absl::FailedPreconditionError(
        absl::StrCat(db.path(), ": attempt ", batch.attempt().attempt_id(),
                     " has no share of agent ", batch.agent_id(), " (instance ",
                     batch.instance_id(), ")"));
  }
  const OpenShare share = {row->Bool(0), row->Uint(1), row->Uint32(2),
                           row->Uint(3)};
  row->Reset();
  return share;
}

absl::StatusOr<uint64_t> FlagBits(const v1::RequestTiming& timing) {
  uint64_t bits = 0;
  for (const int flag : timing.flags()) {
    if (flag < 0 || flag > 62) {
      return absl::InvalidArgumentError(absl::StrCat(
          "request ", timing.ordinal(), ": unknown flag number ", flag));
    }
    bits |= uint64_t{1} << flag;
  }
  return bits;
}

absl::Status InsertTokens(Database& db, int64_t attempt_id,
                          const v1::RequestTiming& t) {
  if (t.token_delta_ns().empty() && t.chunk_tokens().empty()) {
    return absl::OkStatus();
  }
  std::string deltas;
  std::string chunk_tokens;
  for (const uint64_t delta : t.token_delta_ns()) AppendVarint(delta, &deltas);
  for (const uint32_t n : t.chunk_tokens()) AppendVarint(n, &chunk_tokens);
  return db.Run(
      "INSERT INTO request_tokens (attempt_id, ordinal, deltas_ns,"
      " chunk_tokens) VALUES (?,?,?,?)",
      attempt_id, t.ordinal(), Blob{deltas}, Blob{chunk_tokens});
}

absl::Status InsertTiming(Database& db, const v1::TimingBatch& batch,
                          const v1::RequestTiming& t) {
  const int64_t attempt_id = batch.attempt().attempt_id();
  ASSIGN_OR_RETURN(const std::string outcome, ToText(t.outcome()));
  ASSIGN_OR_RETURN(const std::string source, ToText(t.token_count_source()));
  ASSIGN_OR_RETURN(const uint64_t flags, FlagBits(t));
  std::optional<uint64_t> prompt_tokens;
  if (t.has_usage_prompt_tokens()) prompt_tokens = t.usage_prompt_tokens();
  absl::Status status = db.Run(
      "INSERT INTO requests (attempt_id, ordinal, agent_id, instance_id,"
      " outcome, flags, http_status, error, scheduled_ns, sent_ns,"
      " first_byte_ns, first_choice_ns, last_byte_ns, done_ns, end_ns,"
      " content_chunks, coalesced, output_tokens, token_count_source,"
      " usage_prompt_tokens, dns_ns, connect_ns, tls_ns, request_bytes,"
      " response_bytes, body_hash, slot_turnaround_ns)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      attempt_id, t.ordinal(), batch.agent_id(), batch.instance_id(), outcome,
      flags, t.http_status(), t.error(), t.scheduled_ns(), t.sent_ns(),
      t.first_byte_ns(), t.first_choice_ns(), t.last_byte_ns(), t.done_ns(),
      t.end_ns(), t.token_delta_ns_size(), t.coalesced(), t.output_tokens(),
      source, prompt_tokens, t.dns_ns(), t.connect_ns(), t.tls_ns(),
      t.request_bytes(), t.response_bytes(), uint64_t{t.body_hash()},
      t.slot_turnaround_ns());
  if (absl::IsAlreadyExists(status)) {
    return absl::AlreadyExistsError(absl::StrCat(
        db.path(), ": attempt ", attempt_id, ": request ", t.ordinal(),
        " is there already, now again from agent ", batch.agent_id()));
  }
  RETURN_IF_ERROR(status);
  return InsertTokens(db, attempt_id, t);
}

absl::Status CheckNext(const Database& db, const v1::TimingBatch& batch,
                       const OpenShare& share) {
  const auto where = [&] {
    return absl::StrCat(db.path(), ": attempt ", batch.attempt().attempt_id(),
                        ", agent ", batch.agent_id(), ": ");
  };
  if (!share.open) {
    return absl::FailedPreconditionError(
        absl::StrCat(where(), "the attempt is closed"));
  }
  if (batch.attempt().epoch() != share.epoch) {
    return absl::FailedPreconditionError(
        absl::StrCat(where(), "batch of epoch ", batch.attempt().epoch(),
                     ", the attempt is of epoch ", share.epoch));
  }
  if (batch.seq() != share.last_seq + 1) {
    return absl::OutOfRangeError(absl::StrCat(where(), "batch ", batch.seq(),
                                              " came, batch ",
                                              share.last_seq + 1, " is next"));
  }
  for (const v1::RequestTiming& timing : batch.timings()) {
    if (timing.ordinal() < share.requests) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(where(), "request ", timing.ordinal(),
                     " of an attempt with ", share.requests));
  }
  return absl::OkStatus();
}

absl::Status CloseAttempt(Database& db, const AttemptRow& attempt) {
  if (attempt.verdict == AttemptVerdict::kOpen) {
    return absl::InvalidArgumentError("an attempt cannot end OPEN");
  }
  RETURN_IF_ERROR(db.Run(
      "UPDATE attempts SET verdict = ?, reason = ?, finished_unix_ns = ?,"
      " start_skew_ns = ? WHERE id = ? AND verdict = 'OPEN'",
      ToText(attempt.verdict), attempt.reason, ToUnixNs(attempt.finished),
      attempt.start_skew_ns, attempt.id));
  if (db.Changes() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      db.path(), ": attempt ", attempt.id, " is closed or not there"));
}

}  // namespace

absl::StatusOr<uint64_t> WriteEpoch(Database& db) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  RETURN_IF_ERROR(db.Run("UPDATE coordinator SET epoch = epoch + 1"));
  ASSIGN_OR_RETURN(const int64_t epoch,
                   db.QueryInt("SELECT epoch FROM coordinator"));
  RETURN_IF_ERROR(
      db.Run("UPDATE attempts SET verdict = 'ABORTED',"
             " reason = 'coordinator_restart' WHERE verdict = 'OPEN'"));
  RETURN_IF_ERROR(transaction.Commit());
  return static_cast<uint64_t>(epoch);
}

absl::StatusOr<int64_t> WriteAttempt(Database& db, const AttemptRow& attempt,
                                     absl::Span<const ShareRow> shares) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  ASSIGN_OR_RETURN(const uint32_t number, NextNumber(db, attempt));
  RETURN_IF_ERROR(db.Run(
      "INSERT INTO attempts (round_id, kind, number, epoch, requests, verdict,"
      " reason, started_unix_ns, finished_unix_ns, start_skew_ns)"
      " VALUES (?,?,?,?,?,?,?,?,?,?)",
      attempt.round_id, ToText(attempt.kind), number, attempt.epoch,
      attempt.requests, ToText(attempt.verdict), attempt.reason,
      ToUnixNs(attempt.started), ToUnixNs(attempt.finished),
      attempt.start_skew_ns));
  const int64_t attempt_id = db.LastInsertId();
  for (const ShareRow& share : shares) {
    RETURN_IF_ERROR(PutShare(db, attempt_id, share));
  }
  RETURN_IF_ERROR(transaction.Commit());
  return attempt_id;
}

absl::StatusOr<uint64_t> WriteTimings(Database& db,
                                      const v1::TimingBatch& batch) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  ASSIGN_OR_RETURN(const OpenShare share, FindShare(db, batch));
  if (batch.seq() >= 1 && batch.seq() <= share.last_seq) return share.last_seq;
  RETURN_IF_ERROR(CheckNext(db, batch, share));
  for (const v1::RequestTiming& timing : batch.timings()) {
    RETURN_IF_ERROR(InsertTiming(db, batch, timing));
  }
  RETURN_IF_ERROR(
      db.Run("UPDATE shares SET last_seq = ? WHERE attempt_id = ?"
             " AND agent_id = ? AND instance_id = ?",
             batch.seq(), batch.attempt().attempt_id(), batch.agent_id(),
             batch.instance_id()));
  RETURN_IF_ERROR(transaction.Commit());
  return batch.seq();
}

absl::Status WriteAttemptEnd(Database& db, const AttemptRow& attempt,
                             absl::Span<const ShareRow> shares,
                             absl::Span<const RuleRow> rules) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  RETURN_IF_ERROR(CloseAttempt(db, attempt));
  for (const ShareRow& share : shares) {
    RETURN_IF_ERROR(PutShare(db, attempt.id, share));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const RuleRow& rule = rules[i];
    RETURN_IF_ERROR(
        db.Run("INSERT INTO rules (attempt_id, position, rule, agent_id,"
               " value, threshold, ok) VALUES (?,?,?,?,?,?,?)",
               attempt.id, uint64_t{i}, rule.rule, rule.agent_id, rule.value,
               rule.threshold, rule.ok));
  }
  return transaction.Commit();
}

}  // namespace benchfleet
