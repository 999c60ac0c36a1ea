#include "coordinator/report/result_file.h"

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "coordinator/report/aggregate.h"
#include "coordinator/report/json_fields.h"
#include "coordinator/report/number_format.h"

namespace benchfleet {
namespace {

using simdjson::dom::element;

constexpr absl::string_view kTopKeys[] = {"status",
                                          "model",
                                          "precision",
                                          "hardware",
                                          "context_window",
                                          "max_running_requests",
                                          "tensor_parallel_size",
                                          "counted_rounds",
                                          "counted_requests",
                                          "statistics",
                                          "scope",
                                          "rows",
                                          "aggregates",
                                          "benchfleet"};
constexpr absl::string_view kRowKeys[] = {
    "engine",       "case_id",       "repeat",
    "input_tokens", "output_tokens", "concurrency",
    "completed",    "failed",        "total_output_tokens",
    "source_sha256"};
constexpr absl::string_view kAggregateKeys[] = {
    "engine",      "case_id", "input_tokens", "output_tokens",
    "concurrency", "rounds",  "completed",    "metrics"};
constexpr absl::string_view kRangeKeys[] = {"median", "min", "max"};

// NaN and Infinity, which Python writes and JSON does not have: the parser's
// own message would not say what or where.
void FindNonFinite(absl::string_view text, JsonProblems* problems) {
  bool in_string = false;
  int line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c != 'N' && c != 'I') continue;
    size_t end = i;
    while (end < text.size() &&
           absl::ascii_isalpha(static_cast<unsigned char>(text[end]))) {
      ++end;
    }
    problems->Add(absl::StrCat("line ", line),
                  absl::StrCat(text.substr(i, std::min<size_t>(end - i, 20)),
                               " is no figure; an absent one is null"));
    i = end - 1;
  }
}

class Reader {
 public:
  explicit Reader(JsonProblems* problems) : problems_(problems) {}

  NewRun Read(element root);

 private:
  void ReadHead(JsonFields& file);
  void ReadRow(element value, const std::string& path);
  CaseRow ReadShape(JsonFields& row);
  RoundResult ReadResult(JsonFields& row, const CaseRow& shape);
  void ReadAggregates(JsonFields& file);
  void CompareAggregate(element value, const std::string& path,
                        const CaseAggregate& ours);
  void CompareMetrics(JsonFields& metrics, const CaseAggregate& ours);
  uint32_t EngineIndex(const std::string& name);
  uint32_t CaseIndex(const CaseRow& shape, const std::string& path);
  template <typename Value>
  void Compare(const std::string& path, const Value& file, const Value& ours);
  std::string NameOf(const CaseAggregate& aggregate) const {
    return absl::StrCat(run_.engines[aggregate.engine].name, " ",
                        run_.cases[aggregate.case_index].id);
  }

  JsonProblems* problems_;
  NewRun run_;
  absl::flat_hash_set<std::tuple<uint32_t, uint32_t, uint32_t>> seen_;
};

std::string Shown(const std::string& value) { return value; }
std::string Shown(int64_t value) { return absl::StrCat(value); }
std::string Shown(const std::optional<double>& value) {
  return value ? PythonFloat(*value) : "null";
}

template <typename Value>
void Reader::Compare(const std::string& path, const Value& file,
                     const Value& ours) {
  if (file == ours) return;
  problems_->Add(path, absl::StrCat("the file says ", Shown(file),
                                    ", its rows give ", Shown(ours)));
}

NewRun Reader::Read(element root) {
  JsonFields file(root, "", problems_);
  file.AllowOnly(kTopKeys);
  ReadHead(file);
  const std::vector<element> rows = file.Array("rows");
  for (size_t i = 0; i < rows.size(); ++i) {
    ReadRow(rows[i], absl::StrCat("rows[", i, "]"));
  }
  int64_t completed = 0;
  for (const RoundResult& result : run_.results) completed += result.completed;
  const int64_t counted_rounds = file.Count("counted_rounds");
  const int64_t counted_requests = file.Count("counted_requests");
  // Sums over rows that could not be read would only repeat their problems.
  if (problems_->empty()) {
    Compare("counted_rounds", counted_rounds,
            static_cast<int64_t>(rows.size()));
    Compare("counted_requests", counted_requests, completed);
    ReadAggregates(file);
  }
  return std::move(run_);
}

void Reader::ReadHead(JsonFields& file) {
  RunRow& run = run_.run;
  run.verdict = file.Text("status");
  if (!run.verdict.empty() && run.verdict != "PASS" && run.verdict != "FAIL") {
    problems_->Add("status",
                   absl::StrCat("expected PASS or FAIL, found ", run.verdict));
  }
  run.suite_name = "imported";
  run.model = file.Text("model");
  run.precision = file.Text("precision");
  run.hardware = file.Text("hardware");
  run.context_window = file.Uint32("context_window");
  run.max_running_requests = file.Uint32("max_running_requests");
  run.tensor_parallel_size = file.Uint32("tensor_parallel_size");
  run.statistics = file.Text("statistics");
  run.scope = file.Text("scope");
  run.state = v1::FINISHED;
  run.imported = true;
}

uint32_t Reader::EngineIndex(const std::string& name) {
  auto& engines = run_.engines;
  const auto found = std::find_if(
      engines.begin(), engines.end(),
      [&](const EngineRow& engine) { return engine.name == name; });
  const auto index = static_cast<uint32_t>(found - engines.begin());
  if (found == engines.end()) engines.emplace_back().name = name;
  return index;
}

uint32_t Reader::CaseIndex(const CaseRow& shape, const std::string& path) {
  auto& cases = run_.cases;
  const auto found =
      std::find_if(cases.begin(), cases.end(),
                   [&](const CaseRow& row) { return row.id == shape.id; });
  const auto index = static_cast<uint32_t>(found - cases.begin());
  if (found == cases.end()) {
    cases.push_back(shape);
    return index;
  }
  if (found->input_tokens != shape.input_tokens ||
      found->output_tokens != shape.output_tokens ||
      found->concurrency != shape.concurrency) {
    problems_->Add(path, absl::StrCat("case ", shape.id,
                                      " has another shape in a row before"));
  }
  found->requests = std::max(found->requests, shape.requests);
  return index;
}

CaseRow Reader::ReadShape(JsonFields& row) {
  CaseRow shape;
  shape.id = row.Text("case_id");
  shape.input_tokens = row.Uint32("input_tokens");
  shape.output_tokens = row.Uint32("output_tokens");
  shape.concurrency = row.Uint32("concurrency");
  return shape;
}

RoundResult Reader::ReadResult(JsonFields& row, const CaseRow& shape) {
  RoundResult result;
  result.completed = row.Uint32("completed");
  result.failed = row.Uint32("failed");
  if (__builtin_mul_overflow(result.completed, int64_t{shape.input_tokens},
                             &result.total_input_tokens)) {
    problems_->Add(row.PathOf("input_tokens"), "is too large");
  }
  result.total_output_tokens = row.Count("total_output_tokens");
  result.source_sha256 = row.Text("source_sha256");
  for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
    result.metrics[i] = row.Figure(kRoundMetricNames[i]);
  }
  return result;
}

void Reader::ReadRow(element value, const std::string& path) {
  JsonFields row(value, path, problems_);
  std::vector<absl::string_view> keys(std::begin(kRowKeys), std::end(kRowKeys));
  keys.insert(keys.end(), kRoundMetricNames.begin(), kRoundMetricNames.end());
  row.AllowOnly(keys);
  CaseRow shape = ReadShape(row);
  RoundResult result = ReadResult(row, shape);
  shape.requests = static_cast<uint32_t>(
      std::min<int64_t>(result.completed + result.failed, UINT32_MAX));
  RoundRow round;
  round.index = static_cast<uint32_t>(run_.rounds.size());
  round.engine = EngineIndex(row.Text("engine"));
  round.case_index = CaseIndex(shape, path);
  round.repeat = row.Uint32("repeat");
  round.state = RoundState::kValid;
  if (!seen_.insert({round.engine, round.case_index, round.repeat}).second) {
    problems_->Add(path, absl::StrCat("repeat ", round.repeat, " of ",
                                      run_.engines[round.engine].name, " ",
                                      shape.id, " stands there twice"));
  }
  run_.run.repeats = std::max(run_.run.repeats, round.repeat);
  run_.rounds.push_back(round);
  run_.results.push_back(std::move(result));
}

void Reader::ReadAggregates(JsonFields& file) {
  std::vector<CountedRound> rounds;
  for (size_t i = 0; i < run_.rounds.size(); ++i) {
    rounds.push_back({run_.rounds[i], run_.results[i]});
  }
  const std::vector<CaseAggregate> ours = AggregateRounds(rounds);
  const std::vector<element> theirs = file.Array("aggregates");
  if (theirs.size() != ours.size()) {
    problems_->Add("aggregates", absl::StrCat("the file has ", theirs.size(),
                                              ", its rows give ", ours.size()));
    return;
  }
  for (size_t i = 0; i < ours.size(); ++i) {
    CompareAggregate(
        theirs[i], absl::StrCat("aggregates[", i, "] (", NameOf(ours[i]), ")"),
        ours[i]);
  }
}

void Reader::CompareAggregate(element value, const std::string& path,
                              const CaseAggregate& ours) {
  JsonFields file(value, path, problems_);
  file.AllowOnly(kAggregateKeys);
  const CaseRow& shape = run_.cases[ours.case_index];
  Compare(file.PathOf("engine"), file.Text("engine"),
          run_.engines[ours.engine].name);
  Compare(file.PathOf("case_id"), file.Text("case_id"), shape.id);
  Compare(file.PathOf("input_tokens"), file.Count("input_tokens"),
          int64_t{shape.input_tokens});
  Compare(file.PathOf("output_tokens"), file.Count("output_tokens"),
          int64_t{shape.output_tokens});
  Compare(file.PathOf("concurrency"), file.Count("concurrency"),
          int64_t{shape.concurrency});
  Compare(file.PathOf("rounds"), file.Count("rounds"), ours.rounds);
  Compare(file.PathOf("completed"), file.Count("completed"), ours.completed);
  JsonFields metrics = file.Object("metrics");
  CompareMetrics(metrics, ours);
}

void Reader::CompareMetrics(JsonFields& metrics, const CaseAggregate& ours) {
  metrics.AllowOnly(kRoundMetricNames);
  for (size_t i = 0; i < kRoundMetricNames.size(); ++i) {
    JsonFields range = metrics.Object(kRoundMetricNames[i]);
    range.AllowOnly(kRangeKeys);
    const MetricAggregate& own = ours.metrics[i];
    Compare(range.PathOf("median"), range.Figure("median"), own.median);
    Compare(range.PathOf("min"), range.Figure("min"), own.min);
    Compare(range.PathOf("max"), range.Figure("max"), own.max);
  }
}

absl::Status Refuse(const JsonProblems& problems) {
  return absl::InvalidArgumentError(problems.Text());
}

}  // namespace

absl::StatusOr<NewRun> ParseResultFile(absl::string_view text) {
  JsonProblems problems;
  FindNonFinite(text, &problems);
  if (!problems.empty()) return Refuse(problems);
  simdjson::dom::parser parser;
  element root;
  const auto error = parser.parse(text.data(), text.size()).get(root);
  if (error != simdjson::SUCCESS) {
    problems.Add("the file", absl::StrCat("is no valid JSON: ",
                                          simdjson::error_message(error)));
    return Refuse(problems);
  }
  NewRun run = Reader(&problems).Read(root);
  if (!problems.empty()) return Refuse(problems);
  run.run.imported_sha256 = Sha256Hex(text);
  return run;
}

}  // namespace benchfleet
