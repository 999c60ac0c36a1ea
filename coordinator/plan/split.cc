#include "coordinator/plan/split.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "coordinator/plan/plan.h"

namespace benchfleet {
namespace {

uint32_t Limit(const AgentCapacity& agent) {
  return agent.max_concurrency == 0 ? UINT32_MAX : agent.max_concurrency;
}

absl::Status CheckCapacity(uint32_t concurrency,
                           absl::Span<const AgentCapacity> agents) {
  uint64_t capacity = 0;
  for (const AgentCapacity& agent : agents) capacity += Limit(agent);
  if (capacity >= concurrency) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("concurrency ", concurrency, " is more than the ",
                   agents.size(), " agents take together (", capacity,
                   "); add agents or raise their --max-concurrency"));
}

}  // namespace

std::vector<uint32_t> SplitConcurrency(uint32_t concurrency,
                                       absl::Span<const uint32_t> weights) {
  __extension__ using Wide = unsigned __int128;
  Wide total = 0;
  for (const uint32_t weight : weights) total += weight;
  std::vector<uint32_t> shares(weights.size(), 0);
  if (total == 0) return shares;
  Wide weight_so_far = 0;
  Wide given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    weight_so_far += weights[i];
    const Wide upto = concurrency * weight_so_far / total;
    shares[i] = static_cast<uint32_t>(upto - given);
    given = upto;
  }
  return shares;
}

absl::StatusOr<std::vector<uint32_t>> SplitOverAgents(
    uint32_t concurrency, absl::Span<const AgentCapacity> agents) {
  if (absl::Status status = CheckCapacity(concurrency, agents); !status.ok()) {
    return status;
  }
  std::vector<uint32_t> shares(agents.size(), 0);
  std::vector<size_t> open;  // not filled to their limit
  for (size_t i = 0; i < agents.size(); ++i) open.push_back(i);
  uint32_t left = concurrency;
  // Each turn fills an agent or is the last one.
  while (left > 0) {
    std::vector<uint32_t> weights;
    for (const size_t i : open) {
      weights.push_back(agents[i].weight == 0 ? 1 : agents[i].weight);
    }
    const std::vector<uint32_t> wanted = SplitConcurrency(left, weights);
    std::vector<size_t> still_open;
    uint32_t filled = 0;
    for (size_t k = 0; k < open.size(); ++k) {
      const uint32_t limit = Limit(agents[open[k]]);
      if (wanted[k] <= limit) {
        still_open.push_back(open[k]);
      } else {
        shares[open[k]] = limit;
        filled += limit;
      }
    }
    if (filled == 0) {
      for (size_t k = 0; k < open.size(); ++k) shares[open[k]] = wanted[k];
      break;
    }
    left -= filled;
    open = std::move(still_open);
  }
  return shares;
}

}  // namespace benchfleet
