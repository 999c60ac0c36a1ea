#include "coordinator/run/validity.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace benchfleet {
namespace {

constexpr double kNsPerMs = 1e6;

// Each ordinal once, and as many records as each agent's manifest says.
RuleRow Complete(const AttemptRow& attempt, absl::Span<const ShareRow> shares,
                 absl::Span<const StoredTiming> timings) {
  uint64_t promised = 0;
  for (const ShareRow& share : shares) promised += share.manifest.records();
  uint64_t expected = 0;
  bool each_once = true;
  for (const StoredTiming& stored : timings) {  // ordered by ordinal
    each_once = each_once && stored.timing.ordinal() == expected;
    ++expected;
  }
  RuleRow rule{.rule = "records"};
  rule.value = static_cast<double>(timings.size());
  rule.threshold = attempt.requests;
  rule.ok = each_once && timings.size() == attempt.requests &&
            promised == attempt.requests;
  return rule;
}

RuleRow NoneCancelled(absl::Span<const StoredTiming> timings) {
  const auto cancelled = std::count_if(
      timings.begin(), timings.end(), [](const StoredTiming& stored) {
        return stored.timing.outcome() == v1::CANCELLED;
      });
  return {.rule = "cancelled",
          .value = static_cast<double>(cancelled),
          .threshold = 0,
          .ok = cancelled == 0};
}

RuleRow AtMost(std::string rule, std::string agent_id, double value,
               double threshold) {
  return {.rule = std::move(rule),
          .agent_id = std::move(agent_id),
          .value = value,
          .threshold = threshold,
          .ok = value <= threshold};
}

// A buffer on the way makes ITL look better, and nothing else would fail.
RuleRow Buffered(absl::Span<const StoredTiming> timings, double limit) {
  double coalesced = 0, could_be = 0;
  for (const StoredTiming& stored : timings) {
    const int chunks = stored.timing.token_delta_ns_size();
    if (stored.timing.outcome() != v1::COMPLETED || chunks < 2) continue;
    coalesced += stored.timing.coalesced();
    could_be += chunks - 1;
  }
  return AtMost("stream_buffered", "", could_be > 0 ? coalesced / could_be : 0,
                limit);
}

}  // namespace

int64_t StartSkewNs(absl::Span<const ShareRow> shares) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const ShareRow& share : shares) {
    if (share.first_sent_ns == 0) continue;
    const int64_t sent = share.first_sent_ns + share.clock_offset_ns;
    first = std::min(first, sent);
    last = std::max(last, sent);
  }
  return last > first ? last - first : 0;
}

std::vector<RuleRow> JudgeAttempt(const AttemptRow& attempt,
                                  absl::Span<const ShareRow> shares,
                                  absl::Span<const StoredTiming> timings,
                                  const ValidityLimits& limits) {
  std::vector<RuleRow> rules;
  rules.push_back(Complete(attempt, shares, timings));
  rules.push_back(NoneCancelled(timings));
  rules.push_back(AtMost("start_skew_ms", "",
                         static_cast<double>(StartSkewNs(shares)) / kNsPerMs,
                         limits.start_skew_ms));
  rules.push_back(Buffered(timings, limits.coalesced_share));
  for (const ShareRow& share : shares) {
    const v1::ShareEvidence& seen = share.evidence;
    rules.push_back(
        AtMost("client_stall_ms", share.agent_id,
               static_cast<double>(seen.longest_stall_ns()) / kNsPerMs,
               limits.client_stall_ms));
    const double wall = static_cast<double>(seen.loop_wall_ns());
    rules.push_back(
        AtMost("loop_cpu_share", share.agent_id,
               wall > 0 ? static_cast<double>(seen.loop_cpu_ns()) / wall : 0,
               limits.loop_cpu_share));
  }
  return rules;
}

std::string BrokenRules(absl::Span<const RuleRow> rules) {
  std::vector<std::string> broken;
  for (const RuleRow& rule : rules) {
    if (rule.ok) continue;
    const std::string where =
        rule.agent_id.empty() ? "" : absl::StrCat(" on ", rule.agent_id);
    broken.push_back(absl::StrFormat("%s%s: %.6g, limit %.6g", rule.rule, where,
                                     rule.value, rule.threshold));
  }
  return absl::StrJoin(broken, "; ");
}

}  // namespace benchfleet
