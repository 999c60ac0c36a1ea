#include "coordinator/store/timing_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/store/row_text.h"
#include "coordinator/store/token_blob.h"

namespace benchfleet {
namespace {

absl::Status AddTokens(absl::string_view deltas, absl::string_view tokens,
                       v1::RequestTiming* timing) {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> delta_ns, DecodeVarints(deltas));
  timing->mutable_token_delta_ns()->Add(delta_ns.begin(), delta_ns.end());
  ASSIGN_OR_RETURN(const std::vector<uint64_t> counts, DecodeVarints(tokens));
  for (const uint64_t count : counts) {
    timing->add_chunk_tokens(static_cast<uint32_t>(count));
  }
  return absl::OkStatus();
}

absl::StatusOr<StoredTiming> TimingOf(const Statement& row) {
  StoredTiming stored;
  v1::RequestTiming& t = stored.timing;
  t.set_ordinal(row.Uint32(0));
  stored.agent_id = row.Text(1);
  ASSIGN_OR_RETURN(const v1::Outcome outcome, OutcomeOf(row.View(2)));
  t.set_outcome(outcome);
  const uint64_t flags = row.Uint(3);
  for (int flag = 0; flag < 63; ++flag) {
    if (flags >> flag & 1) t.add_flags(static_cast<v1::RequestFlag>(flag));
  }
  t.set_http_status(row.Uint32(4));
  t.set_error(row.Text(5));
  t.set_scheduled_ns(row.Int(6));
  t.set_sent_ns(row.Int(7));
  t.set_first_byte_ns(row.Int(8));
  t.set_first_choice_ns(row.Int(9));
  t.set_last_byte_ns(row.Int(10));
  t.set_done_ns(row.Int(11));
  t.set_end_ns(row.Int(12));
  t.set_coalesced(row.Uint32(13));
  t.set_output_tokens(row.Uint(14));
  ASSIGN_OR_RETURN(const v1::TokenCountSource source,
                   TokenCountSourceOf(row.View(15)));
  t.set_token_count_source(source);
  if (!row.IsNull(16)) t.set_usage_prompt_tokens(row.Uint(16));
  t.set_dns_ns(row.Uint(17));
  t.set_connect_ns(row.Uint(18));
  t.set_tls_ns(row.Uint(19));
  t.set_request_bytes(row.Uint(20));
  t.set_response_bytes(row.Uint(21));
  t.set_body_hash(row.Uint(22));
  t.set_slot_turnaround_ns(row.Uint(23));
  RETURN_IF_ERROR(AddTokens(row.View(24), row.View(25), &t));
  return stored;
}

}  // namespace

absl::StatusOr<std::vector<StoredTiming>> ReadTimings(Database& db,
                                                      int64_t attempt_id) {
  ASSIGN_OR_RETURN(
      Statement rows,
      db.Prepare("SELECT ordinal, agent_id, outcome, flags, http_status, error,"
                 " scheduled_ns, sent_ns, first_byte_ns, first_choice_ns,"
                 " last_byte_ns, done_ns, end_ns, coalesced, output_tokens,"
                 " token_count_source, usage_prompt_tokens, dns_ns, connect_ns,"
                 " tls_ns, request_bytes, response_bytes, body_hash,"
                 " slot_turnaround_ns, deltas_ns, chunk_tokens"
                 " FROM requests LEFT JOIN request_tokens"
                 " USING (attempt_id, ordinal)"
                 " WHERE attempt_id = ? ORDER BY ordinal"));
  rows.Bind(attempt_id);
  std::vector<StoredTiming> timings;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return timings;
    absl::StatusOr<StoredTiming> timing = TimingOf(rows);
    if (!timing.ok()) {
      return absl::Status(
          timing.status().code(),
          absl::StrCat(db.path(), ": attempt ", attempt_id, ", request ",
                       rows.Int(0), ": ", timing.status().message()));
    }
    timings.push_back(*std::move(timing));
  }
}

}  // namespace benchfleet
