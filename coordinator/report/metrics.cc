#include "coordinator/report/metrics.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "common/sha256.h"
#include "coordinator/report/statistic.h"

namespace benchfleet {
namespace {

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }
double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// Agents may report absurd figures; those must wrap, not be undefined.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}

// From the first send to the last end, in ns, and how wrong it may be.
struct Span {
  int64_t ns = 0;
  int64_t bound_ns = 0;
};

int64_t EndOf(const v1::RequestTiming& timing) {
  if (timing.end_ns() != 0) return timing.end_ns();
  return std::max(timing.done_ns(), timing.last_byte_ns());
}

// Absent without a request, or if an agent's clock is not known: a duration
// over unaligned clocks would be a wrong number that looks right.
std::optional<Span> RoundSpan(absl::Span<const ShareRow> shares,
                              absl::Span<const StoredTiming> timings) {
  struct Point {
    int64_t ns;
    int64_t bound_ns;
  };
  absl::flat_hash_map<std::string, const ShareRow*> by_agent;
  for (const ShareRow& share : shares) by_agent[share.agent_id] = &share;
  std::optional<Point> first;
  std::optional<Point> last;
  for (const StoredTiming& stored : timings) {
    const auto share = by_agent.find(stored.agent_id);
    if (share == by_agent.end()) return std::nullopt;
    const int64_t offset = share->second->clock_offset_ns;
    const int64_t bound = share->second->clock_bound_ns;
    if (stored.timing.sent_ns() != 0) {
      const Point sent = {Sum(stored.timing.sent_ns(), offset), bound};
      if (!first || sent.ns < first->ns) first = sent;
    }
    if (const int64_t end_ns = EndOf(stored.timing); end_ns != 0) {
      const Point end = {Sum(end_ns, offset), bound};
      if (!last || end.ns > last->ns) last = end;
    }
  }
  if (!first || !last || last->ns <= first->ns) return std::nullopt;
  const bool one_clock = by_agent.size() == 1;
  return Span{Difference(last->ns, first->ns),
              one_clock ? 0 : Sum(first->bound_ns, last->bound_ns)};
}

struct Samples {
  std::vector<double> ttft, tpot, itl, e2el;  // ms
  int64_t e2el_sum_ns = 0;
  int64_t chunks = 0;
};

void AddLatencies(const v1::RequestTiming& timing, Samples* samples) {
  const auto& deltas = timing.token_delta_ns();
  samples->chunks += deltas.size();
  if (deltas.empty()) return;
  const int64_t ttft = static_cast<int64_t>(deltas[0]);
  int64_t e2el = ttft;
  for (int i = 1; i < deltas.size(); ++i) {
    const int64_t gap = static_cast<int64_t>(deltas[i]);
    e2el = Sum(e2el, gap);
    samples->itl.push_back(Ms(gap));
  }
  samples->ttft.push_back(Ms(ttft));
  samples->e2el.push_back(Ms(e2el));
  samples->e2el_sum_ns = Sum(samples->e2el_sum_ns, e2el);
  if (timing.output_tokens() < 2 || deltas.size() < 2) return;
  samples->tpot.push_back(Ms(Difference(e2el, ttft)) /
                          static_cast<double>(timing.output_tokens() - 1));
}

// Mean, p50, p95 and p99 into four neighbouring metrics.
void SetLatency(std::vector<double> samples, size_t at, RoundMetrics* metrics) {
  std::sort(samples.begin(), samples.end());
  (*metrics)[at] = Mean(samples);
  (*metrics)[at + 1] = Percentile(samples, 0.50);
  (*metrics)[at + 2] = Percentile(samples, 0.95);
  (*metrics)[at + 3] = Percentile(samples, 0.99);
}

void CountFlags(const v1::RequestTiming& timing, RoundResult* result) {
  for (const int flag : timing.flags()) {
    if (flag == v1::WRONG_LENGTH) ++result->wrong_length;
    if (flag == v1::WRONG_INPUT_LENGTH) ++result->wrong_input_length;
    if (flag == v1::USAGE_INCONSISTENT) ++result->usage_inconsistent;
    if (flag == v1::NEW_CONNECTION) ++result->new_connections;
  }
  result->coalesced += timing.coalesced();
}

void SetRates(const Span& span, const Samples& samples, uint32_t concurrency,
              RoundResult* result) {
  const double duration = Seconds(span.ns);
  result->metrics[0] = duration;
  result->metrics[1] = static_cast<double>(result->completed) / duration;
  result->metrics[2] =
      static_cast<double>(result->total_output_tokens) / duration;
  result->metrics[3] = static_cast<double>(Sum(result->total_input_tokens,
                                               result->total_output_tokens)) /
                       duration;
  result->duration_bound_s = Seconds(span.bound_ns);
  if (concurrency == 0) return;
  result->concurrency_utilisation =
      Seconds(samples.e2el_sum_ns) / (concurrency * duration);
}

}  // namespace

RoundResult ComputeRoundResult(const CaseRow& round_case,
                               absl::Span<const ShareRow> shares,
                               absl::Span<const StoredTiming> timings) {
  RoundResult result;
  Samples samples;
  for (const StoredTiming& stored : timings) {
    const v1::RequestTiming& timing = stored.timing;
    CountFlags(timing, &result);
    if (timing.outcome() != v1::COMPLETED) {
      ++result.failed;
      continue;
    }
    ++result.completed;
    const uint64_t input = timing.has_usage_prompt_tokens()
                               ? timing.usage_prompt_tokens()
                               : round_case.input_tokens;
    result.total_input_tokens =
        Sum(result.total_input_tokens, static_cast<int64_t>(input));
    result.total_output_tokens =
        Sum(result.total_output_tokens,
            static_cast<int64_t>(timing.output_tokens()));
    AddLatencies(timing, &samples);
  }
  if (const std::optional<Span> span = RoundSpan(shares, timings)) {
    SetRates(*span, samples, round_case.concurrency, &result);
  }
  if (samples.chunks > 0) {
    result.tokens_per_chunk = static_cast<double>(result.total_output_tokens) /
                              static_cast<double>(samples.chunks);
  }
  SetLatency(std::move(samples.ttft), 4, &result.metrics);
  SetLatency(std::move(samples.tpot), 8, &result.metrics);
  SetLatency(std::move(samples.itl), 12, &result.metrics);
  SetLatency(std::move(samples.e2el), 16, &result.metrics);
  result.agents = static_cast<uint32_t>(shares.size());
  result.request_set_sha256 = RequestSetSha256(timings);
  return result;
}

std::string RequestSetSha256(absl::Span<const StoredTiming> timings) {
  std::vector<std::pair<uint32_t, uint64_t>> requests;
  requests.reserve(timings.size());
  for (const StoredTiming& stored : timings) {
    requests.emplace_back(stored.timing.ordinal(), stored.timing.body_hash());
  }
  std::sort(requests.begin(), requests.end());
  std::string lines;
  for (const auto& [ordinal, body_hash] : requests) {
    absl::StrAppendFormat(&lines, "%d %016x\n", ordinal, body_hash);
  }
  return Sha256Hex(lines);
}

}  // namespace benchfleet
