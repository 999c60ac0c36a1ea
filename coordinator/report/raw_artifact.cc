#include "coordinator/report/raw_artifact.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/report/json_writer.h"

namespace benchfleet {
namespace {

template <typename Row, typename Less>
std::vector<const Row*> Sorted(absl::Span<const Row> rows, Less less) {
  std::vector<const Row*> sorted;
  sorted.reserve(rows.size());
  for (const Row& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Row* a, const Row* b) { return less(*a, *b); });
  return sorted;
}

void WriteShare(const ShareRow& share, JsonWriter* json) {
  json->BeginObject();
  json->StringField("agent", share.agent_id);
  json->StringField("instance", share.instance_id);
  json->StringField("host", share.hostname);
  json->StringField("build", share.build_id);
  json->UintField("concurrency", share.concurrency);
  json->IntField("clock_offset_ns", share.clock_offset_ns);
  json->IntField("clock_bound_ns", share.clock_bound_ns);
  json->IntField("t0_ns", share.t0_ns);
  json->IntField("first_sent_ns", share.first_sent_ns);
  json->EndObject();
}

std::string HeadLine(const RawArtifactHead& head,
                     absl::Span<const ShareRow> shares) {
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.BeginObject();
  json.StringField("format", "benchfleet-raw-1");
  json.IntField("run", head.run_id);
  json.StringField("suite", head.suite_name);
  json.StringField("engine", head.engine);
  json.StringField("case_id", head.round_case.id);
  json.UintField("repeat", head.repeat);
  json.IntField("attempt", head.attempt_id);
  json.UintField("request_seed", head.request_seed);
  json.UintField("input_tokens", head.round_case.input_tokens);
  json.UintField("output_tokens", head.round_case.output_tokens);
  json.UintField("concurrency", head.round_case.concurrency);
  json.UintField("requests", head.round_case.requests);
  json.Key("shares");
  json.BeginArray();
  for (const ShareRow* share :
       Sorted(shares, [](const ShareRow&a, const ShareRow&b) {
         return std::tie(a.agent_id, a.instance_id) <
                std::tie(b.agent_id, b.instance_id);
       })) {
    WriteShare(*share, &json);
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

void WriteOutcome(const v1::RequestTiming& t, JsonWriter* json) {
  json->StringField("outcome", v1::Outcome_Name(t.outcome()));
  json->Key("flags");
  json->BeginArray();
  std::vector<int> flags(t.flags().begin(), t.flags().end());
  std::sort(flags.begin(), flags.end());
  for (const int flag : flags) {
    const std::string& name =
        v1::RequestFlag_Name(static_cast<v1::RequestFlag>(flag));
    json->String(name.empty() ? absl::StrCat(flag) : name);
  }
  json->EndArray();
  json->UintField("http_status", t.http_status());
  json->StringField("error", t.error());
}

void WriteTimes(const v1::RequestTiming& t, JsonWriter* json) {
  json->IntField("scheduled_ns", t.scheduled_ns());
  json->IntField("sent_ns", t.sent_ns());
  json->IntField("first_byte_ns", t.first_byte_ns());
  json->IntField("first_choice_ns", t.first_choice_ns());
  json->IntField("last_byte_ns", t.last_byte_ns());
  json->IntField("done_ns", t.done_ns());
  json->IntField("end_ns", t.end_ns());
  json->UintField("dns_ns", t.dns_ns());
  json->UintField("connect_ns", t.connect_ns());
  json->UintField("tls_ns", t.tls_ns());
  json->UintField("slot_turnaround_ns", t.slot_turnaround_ns());
}

void WriteTokens(const v1::RequestTiming& t, JsonWriter* json) {
  json->UintField("output_tokens", t.output_tokens());
  json->StringField("token_count_source",
                    v1::TokenCountSource_Name(t.token_count_source()));
  json->Key("usage_prompt_tokens");
  if (t.has_usage_prompt_tokens()) {
    json->Uint(t.usage_prompt_tokens());
  } else {
    json->Double(std::nullopt);
  }
  json->UintField("coalesced", t.coalesced());
  json->Key("token_delta_ns");
  json->BeginArray();
  for (const uint64_t delta : t.token_delta_ns()) json->Uint(delta);
  json->EndArray();
  json->Key("chunk_tokens");
  json->BeginArray();
  for (const uint32_t count : t.chunk_tokens()) json->Uint(count);
  json->EndArray();
}

std::string RequestLine(const StoredTiming& stored) {
  const v1::RequestTiming& t = stored.timing;
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.BeginObject();
  json.UintField("ordinal", t.ordinal());
  json.StringField("agent", stored.agent_id);
  WriteOutcome(t, &json);
  WriteTimes(t, &json);
  json.UintField("request_bytes", t.request_bytes());
  json.UintField("response_bytes", t.response_bytes());
  json.StringField("body_hash", absl::StrFormat("%016x", t.body_hash()));
  WriteTokens(t, &json);
  json.EndObject();
  return json.Take();
}

}  // namespace

std::string RawArtifact(const RawArtifactHead& head,
                        absl::Span<const ShareRow> shares,
                        absl::Span<const StoredTiming> timings) {
  std::string text = HeadLine(head, shares);
  text += '\n';
  for (const StoredTiming* timing :
       Sorted(timings, [](const StoredTiming&a, const StoredTiming&b) {
         return a.timing.ordinal() < b.timing.ordinal();
       })) {
    absl::StrAppend(&text, RequestLine(*timing), "\n");
  }
  return text;
}

}  // namespace benchfleet
