#include "coordinator/report/aggregate.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "coordinator/report/statistic.h"

namespace benchfleet {
namespace {

MetricAggregate AggregateOf(std::vector<double> values) {
  if (values.empty()) return {};
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  MetricAggregate aggregate;
  aggregate.min = *min;
  aggregate.max = *max;
  aggregate.median = Median(std::move(values));
  return aggregate;
}

CaseAggregate AggregateCase(absl::Span<const CountedRound* const> rounds) {
  CaseAggregate aggregate;
  aggregate.engine = rounds[0]->round.engine;
  aggregate.case_index = rounds[0]->round.case_index;
  aggregate.rounds = static_cast<int64_t>(rounds.size());
  for (const CountedRound* round : rounds) {
    aggregate.completed += round->result.completed;
    aggregate.failed += round->result.failed;
  }
  for (size_t i = 0; i < aggregate.metrics.size(); ++i) {
    std::vector<double> values;
    for (const CountedRound* round : rounds) {
      if (round->result.metrics[i]) values.push_back(*round->result.metrics[i]);
    }
    aggregate.metrics[i] = AggregateOf(std::move(values));
  }
  return aggregate;
}

}  // namespace

std::vector<CaseAggregate> AggregateRounds(
    absl::Span<const CountedRound> rounds) {
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, size_t> places;
  std::vector<std::vector<const CountedRound*>> groups;
  for (const CountedRound& round : rounds) {
    const auto [place, added] = places.try_emplace(
        {round.round.engine, round.round.case_index}, groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(&round);
  }
  std::vector<CaseAggregate> aggregates;
  for (const auto& group : groups) aggregates.push_back(AggregateCase(group));
  return aggregates;
}

}  // namespace benchfleet
