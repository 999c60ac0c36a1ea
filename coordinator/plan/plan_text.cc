#include "coordinator/plan/plan_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace benchfleet {
namespace {

// "7908" as "7,908".
std::string Grouped(uint64_t number) {
  std::string text = absl::StrCat(number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string Counted(uint64_t count, absl::string_view noun) {
  return absl::StrCat(Grouped(count), " ", noun, count == 1 ? "" : "s");
}

struct Column {
  std::string head;
  bool numeric = false;
  std::vector<std::string> cells;
};

bool IsEmpty(const Column& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell.empty(); });
}

// Names left, numbers right, columns two blanks apart.
std::string Table(const std::vector<Column>& columns, size_t rows) {
  std::vector<std::string> lines(rows + 1);
  for (const Column& column : columns) {
    if (IsEmpty(column)) continue;
    size_t width = column.head.size();
    for (const std::string& cell : column.cells) {
      width = std::max(width, cell.size());
    }
    for (size_t row = 0; row <= rows; ++row) {
      const std::string& cell = row == 0 ? column.head : column.cells[row - 1];
      const std::string fill(width - cell.size(), ' ');
      absl::StrAppend(&lines[row], lines[row].empty() ? "" : "  ",
                      column.numeric ? fill : "", cell,
                      column.numeric ? "" : fill);
    }
  }
  std::string text;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

// "3+3+4", or "33 to 34 each" where that would be long.
std::string SplitText(uint32_t concurrency, uint32_t agents) {
  constexpr uint32_t kMostShown = 6;
  const std::vector<uint32_t> weights(agents, 1);
  const std::vector<uint32_t> shares = SplitConcurrency(concurrency, weights);
  if (agents <= kMostShown) return absl::StrJoin(shares, "+");
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  return *least == *most ? absl::StrCat(*least, " each")
                         : absl::StrCat(*least, " to ", *most, " each");
}

// What a case has that most have not.
std::string Notes(const PlannedCase& planned) {
  std::vector<std::string> notes;
  if (planned.endpoint == v1::CHAT) notes.push_back("chat");
  if (planned.prompt_format == v1::TEXT) notes.push_back("text");
  if (planned.prompt_format == v1::TOKEN_IDS) notes.push_back("token ids");
  if (planned.requests < planned.concurrency) {
    notes.push_back("never full");
  }
  if (planned.allow_wrong_length) notes.push_back("any length");
  if (!planned.include_usage) notes.push_back("no usage");
  return absl::StrJoin(notes, ", ");
}

std::string CaseTable(const Plan& plan,
                      absl::Span<const uint32_t> agent_counts) {
  Column id{"case", false, {}}, input{"input", true, {}};
  Column output{"output", true, {}}, load{"concurrency", true, {}};
  Column requests{"requests", true, {}}, warmup{"warm-up", true, {}};
  Column notes{"notes", false, {}};
  std::vector<Column> splits;
  for (const uint32_t count : agent_counts) {
    splits.push_back(
        {absl::StrCat("over ", Counted(count, "agent")), false, {}});
  }
  for (const PlannedCase& planned : plan.cases) {
    id.cells.push_back(planned.id);
    input.cells.push_back(absl::StrCat(planned.input_tokens));
    output.cells.push_back(absl::StrCat(planned.output_tokens));
    load.cells.push_back(absl::StrCat(planned.concurrency));
    requests.cells.push_back(absl::StrCat(planned.requests));
    warmup.cells.push_back(absl::StrCat(planned.warmup_requests));
    notes.cells.push_back(Notes(planned));
    for (size_t i = 0; i < splits.size(); ++i) {
      splits[i].cells.push_back(
          SplitText(planned.concurrency, agent_counts[i]));
    }
  }
  std::vector<Column> columns = {std::move(id),       std::move(input),
                                 std::move(output),   std::move(load),
                                 std::move(requests), std::move(warmup)};
  for (Column& split : splits) columns.push_back(std::move(split));
  columns.push_back(std::move(notes));
  return Table(columns, plan.cases.size());
}

std::string EngineTable(const v1::Suite& suite) {
  Column name{"engine", false, {}}, kind{"kind", false, {}};
  Column url{"base_url", false, {}}, model{"model", false, {}};
  for (const v1::Engine& engine : suite.engines()) {
    name.cells.push_back(engine.name());
    kind.cells.push_back(v1::EngineKind_Name(engine.kind()));
    url.cells.push_back(engine.base_url());
    model.cells.push_back(engine.model());
  }
  return Table(
      {std::move(name), std::move(kind), std::move(url), std::move(model)},
      static_cast<size_t>(suite.engines_size()));
}

std::string SuiteLine(const v1::Suite& suite) {
  std::vector<std::string> facts = {suite.model()};
  if (!suite.precision().empty()) facts.push_back(suite.precision());
  if (!suite.hardware().empty()) facts.push_back(suite.hardware());
  if (suite.tensor_parallel_size() > 0) {
    facts.push_back(absl::StrCat("TP ", suite.tensor_parallel_size()));
  }
  if (suite.context_window() > 0) {
    facts.push_back(absl::StrCat("context ", suite.context_window()));
  }
  if (suite.max_running_requests() > 0) {
    facts.push_back(absl::StrCat("max running ", suite.max_running_requests()));
  }
  return absl::StrCat("suite  ", suite.name(), ": ", absl::StrJoin(facts, ", "),
                      "\n");
}

std::string TimeoutLine(const v1::Timeouts& timeouts) {
  std::vector<std::string> parts;
  const auto add = [&parts](absl::string_view name, bool given, double value) {
    if (given) parts.push_back(absl::StrCat(name, " ", value, " s"));
  };
  add("connect", timeouts.has_connect_s(), timeouts.connect_s());
  add("first token", timeouts.has_first_token_s(), timeouts.first_token_s());
  add("between tokens", timeouts.has_between_tokens_s(),
      timeouts.between_tokens_s());
  add("request", timeouts.has_request_s(), timeouts.request_s());
  if (parts.empty()) return "";
  return absl::StrCat("limits ", absl::StrJoin(parts, ", "), "\n");
}

std::string TotalLine(const Plan& plan) {
  uint64_t warmup = 0;
  for (const PlannedRound& round : plan.rounds) {
    warmup += plan.cases[round.case_index].warmup_requests;
  }
  const auto engines = static_cast<uint64_t>(plan.suite.engines_size());
  std::string line = absl::StrCat(
      Counted(plan.rounds.size(), "round"), " (", Counted(engines, "engine"),
      " x ", Counted(plan.cases.size(), "case"), " x ",
      Counted(plan.suite.repeats(), "repeat"), "), ",
      Counted(plan.TotalRequests(), "request"));
  if (warmup > 0) {
    absl::StrAppend(&line, ", ", Counted(warmup, "warm-up request"),
                    " not counted");
  }
  absl::StrAppend(&line, "\n");
  return line;
}

}  // namespace

std::string PlanText(const Plan& plan,
                     absl::Span<const uint32_t> agent_counts) {
  return absl::StrCat(SuiteLine(plan.suite), "seed   ", plan.seed,
                      plan.seed_was_drawn ? " (drawn: the suite has none)" : "",
                      "\n", "order  by engine, then case, then repeat; up to ",
                      Counted(plan.suite.max_attempts(), "attempt"),
                      " per round\n", TimeoutLine(plan.suite.timeouts()), "\n",
                      EngineTable(plan.suite), "\n",
                      CaseTable(plan, agent_counts), "\n", TotalLine(plan));
}

}  // namespace benchfleet
