#include "coordinator/report/report_json.h"

#include "common/build_info.h"
#include "coordinator/report/json_writer.h"
#include "coordinator/report/verdict_text.h"

namespace benchfleet {
namespace {

void WriteShape(const ReportModel& model, uint32_t case_index,
                JsonWriter* json) {
  const CaseRow& row = model.cases[case_index];
  json->UintField("input_tokens", row.input_tokens);
  json->UintField("output_tokens", row.output_tokens);
  json->UintField("concurrency", row.concurrency);
}

void WriteNames(const ReportModel& model, uint32_t engine, uint32_t case_index,
                JsonWriter* json) {
  json->StringField("engine", model.engines[engine].name);
  json->StringField("case_id", model.cases[case_index].id);
}

void WriteHead(const ReportModel& model, JsonWriter* json) {
  int64_t completed = 0;
  for (const CountedRound& row : model.rows) completed += row.result.completed;
  json->StringField("status", model.pass ? "PASS" : "FAIL");
  json->StringField("model", model.run.model);
  json->StringField("precision", model.run.precision);
  json->StringField("hardware", model.run.hardware);
  json->UintField("context_window", model.run.context_window);
  json->UintField("max_running_requests", model.run.max_running_requests);
  json->UintField("tensor_parallel_size", model.run.tensor_parallel_size);
  json->UintField("counted_rounds", model.rows.size());
  json->IntField("counted_requests", completed);
  json->StringField("statistics", model.statistics);
  json->StringField("scope", model.scope);
}

void WriteRow(const ReportModel& model, const CountedRound& row,
              JsonWriter* json) {
  json->BeginObject();
  WriteNames(model, row.round.engine, row.round.case_index, json);
  json->UintField("repeat", row.round.repeat);
  WriteShape(model, row.round.case_index, json);
  json->IntField("completed", row.result.completed);
  json->IntField("failed", row.result.failed);
  json->IntField("total_output_tokens", row.result.total_output_tokens);
  json->StringField("source_sha256", row.result.source_sha256);
  for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
    json->DoubleField(kRoundMetricNames[i], row.result.metrics[i]);
  }
  json->EndObject();
}

void WriteAggregate(const ReportModel& model, const CaseAggregate& aggregate,
                    JsonWriter* json) {
  json->BeginObject();
  WriteNames(model, aggregate.engine, aggregate.case_index, json);
  WriteShape(model, aggregate.case_index, json);
  json->IntField("rounds", aggregate.rounds);
  json->IntField("completed", aggregate.completed);
  json->Key("metrics");
  json->BeginObject();
  for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
    json->Key(kRoundMetricNames[i]);
    json->BeginObject();
    json->DoubleField("median", aggregate.metrics[i].median);
    json->DoubleField("min", aggregate.metrics[i].min);
    json->DoubleField("max", aggregate.metrics[i].max);
    json->EndObject();
  }
  json->EndObject();
  json->EndObject();
}

void WriteStrings(absl::string_view key, const std::vector<std::string>& items,
                  JsonWriter* json) {
  json->Key(key);
  json->BeginArray();
  for (const std::string& item : items) json->String(item);
  json->EndArray();
}

void WriteRoundExtras(const ReportModel& model, size_t index,
                      JsonWriter* json) {
  const CountedRound& row = model.rows[index];
  json->BeginObject();
  WriteNames(model, row.round.engine, row.round.case_index, json);
  json->UintField("repeat", row.round.repeat);
  json->IntField("attempt", row.result.attempt_id);
  WriteStrings("agents", model.row_agents[index], json);
  json->DoubleField("concurrency_utilisation",
                    row.result.concurrency_utilisation);
  json->DoubleField("duration_bound_s", row.result.duration_bound_s);
  json->DoubleField("tokens_per_chunk", row.result.tokens_per_chunk);
  json->IntField("total_input_tokens", row.result.total_input_tokens);
  json->IntField("new_connections", row.result.new_connections);
  json->IntField("coalesced", row.result.coalesced);
  json->IntField("wrong_length", row.result.wrong_length);
  json->IntField("wrong_input_length", row.result.wrong_input_length);
  json->IntField("usage_inconsistent", row.result.usage_inconsistent);
  json->StringField("request_set_sha256", row.result.request_set_sha256);
  json->EndObject();
}

void WriteExcluded(const ReportModel& model, const ExcludedAttempt& excluded,
                   JsonWriter* json) {
  json->BeginObject();
  WriteNames(model, excluded.round.engine, excluded.round.case_index, json);
  json->UintField("repeat", excluded.round.repeat);
  json->StringField("kind", KindText(excluded.attempt.kind));
  json->UintField("number", excluded.attempt.number);
  json->IntField("attempt", excluded.attempt.id);
  json->StringField("verdict", VerdictText(excluded.attempt.verdict));
  json->StringField("reason", excluded.attempt.reason);
  json->EndObject();
}

void WriteExtras(const ReportModel& model, JsonWriter* json) {
  std::vector<std::string> insecure;
  for (const EngineRow& engine : model.engines) {
    if (engine.insecure_skip_verify) insecure.push_back(engine.name);
  }
  json->Key("benchfleet");
  json->BeginObject();
  json->StringField("version", kVersion);
  json->IntField("run", model.run.id);
  json->StringField("suite", model.run.suite_name);
  json->UintField("seed", model.run.seed);
  json->StringField("state", v1::RunState_Name(model.run.state));
  json->UintField("planned_rounds", model.planned_rounds);
  json->UintField("repeats", model.run.repeats);
  WriteStrings("reasons", model.reasons, json);
  WriteStrings("insecure_engines", insecure, json);
  json->IntField("warmup_attempts", model.warmup_attempts);
  json->Key("rounds");
  json->BeginArray();
  for (size_t i = 0; i < model.rows.size(); ++i) {
    WriteRoundExtras(model, i, json);
  }
  json->EndArray();
  json->Key("excluded_attempts");
  json->BeginArray();
  for (const ExcludedAttempt& excluded : model.excluded) {
    WriteExcluded(model, excluded, json);
  }
  json->EndArray();
  json->EndObject();
}

}  // namespace

std::string ReportJson(const ReportModel& model) {
  JsonWriter json;
  json.BeginObject();
  WriteHead(model, &json);
  json.Key("rows");
  json.BeginArray();
  for (const CountedRound& row : model.rows) WriteRow(model, row, &json);
  json.EndArray();
  json.Key("aggregates");
  json.BeginArray();
  for (const CaseAggregate& aggregate : model.aggregates) {
    WriteAggregate(model, aggregate, &json);
  }
  json.EndArray();
  if (!model.run.imported) WriteExtras(model, &json);
  json.EndObject();
  return json.Take();
}

}  // namespace benchfleet
