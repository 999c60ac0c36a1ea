#include "coordinator/report/report_table.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/report/number_format.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {
namespace {

constexpr size_t kNameBytes = 60;

struct ShownMetric {
  const char* name;
  const char* title;
};
constexpr ShownMetric kShown[] = {{"output_throughput", "output tok/s"},
                                  {"p50_ttft_ms", "TTFT p50 ms"},
                                  {"p99_ttft_ms", "TTFT p99 ms"},
                                  {"mean_tpot_ms", "TPOT mean ms"},
                                  {"mean_e2el_ms", "E2EL mean ms"}};

size_t MetricIndex(absl::string_view name) {
  return static_cast<size_t>(
      std::find(kRoundMetricNames.begin(), kRoundMetricNames.end(), name) -
      kRoundMetricNames.begin());
}

std::string RatioText(double ratio) {
  return ratio < 0.1 ? absl::StrFormat("%.2gx", ratio)
                     : absl::StrFormat("%.2fx", ratio);
}

// `base` is null for the base itself and where it did not measure the case.
TableCell CellOf(const MetricAggregate& own, const MetricAggregate* base) {
  if (!own.median) return {"-", ""};
  TableCell cell;
  cell.figures =
      absl::StrCat(ShortNumber(*own.median), " [", ShortNumber(*own.min), "-",
                   ShortNumber(*own.max), "]");
  if (base != nullptr && base->median && *base->median > 0) {
    cell.ratio = RatioText(*own.median / *base->median);
  }
  return cell;
}

std::string ShapeText(const CaseRow& row,
                      const std::vector<const CaseAggregate*>& engines) {
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (const CaseAggregate* engine : engines) {
    least = std::min(least, engine->rounds);
    most = std::max(most, engine->rounds);
  }
  return absl::StrCat(
      row.input_tokens, " in, ", row.output_tokens, " out, concurrency ",
      row.concurrency, ", ",
      least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most),
      most == 1 ? " round" : " rounds");
}

CaseTable TableOf(const ReportModel& model, const CaseRow& row,
                  const std::vector<const CaseAggregate*>& engines) {
  CaseTable table;
  table.case_id = OneLine(row.id, kNameBytes);
  table.shape = ShapeText(row, engines);
  for (const CaseAggregate* engine : engines) {
    table.engines.push_back(
        OneLine(model.engines[engine->engine].name, kNameBytes));
  }
  for (const ShownMetric& shown : kShown) {
    const size_t metric = MetricIndex(shown.name);
    TableLine line = {shown.title, {}};
    for (const CaseAggregate* engine : engines) {
      const bool has_base = engines[0]->engine == 0 && engine != engines[0];
      line.cells.push_back(
          CellOf(engine->metrics[metric],
                 has_base ? &engines[0]->metrics[metric] : nullptr));
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

}  // namespace

std::vector<CaseTable> CompareEngines(const ReportModel& model) {
  std::vector<CaseTable> tables;
  for (uint32_t i = 0; i < model.cases.size(); ++i) {
    std::vector<const CaseAggregate*> engines;
    for (const CaseAggregate& aggregate : model.aggregates) {
      if (aggregate.case_index == i) engines.push_back(&aggregate);
    }
    if (engines.empty()) continue;
    std::stable_sort(engines.begin(), engines.end(),
                     [](const CaseAggregate* a, const CaseAggregate* b) {
                       return a->engine < b->engine;
                     });
    tables.push_back(TableOf(model, model.cases[i], engines));
  }
  return tables;
}

}  // namespace benchfleet
