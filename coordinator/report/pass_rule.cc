#include "coordinator/report/pass_rule.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "coordinator/report/text_encoding.h"

namespace benchfleet {
namespace {

constexpr size_t kMostReasons = 50;
constexpr size_t kExampleBytes = 200;

// The rounds of one engine and case.
struct Group {
  std::string name;
  int64_t rounds = 0, not_valid = 0;
  int64_t planned = 0, done = 0;  // requests of VALID rounds
  int64_t failed = 0, wrong_length = 0, wrong_input_length = 0,
          usage_inconsistent = 0, wrong_totals = 0;
  std::string not_valid_example, failed_example;
};

void AddResult(const CaseRow& round_case, const RoundResult& result,
               const std::string& example, Group* group) {
  group->planned += round_case.requests;
  group->done += result.completed + result.failed;
  group->failed += result.failed;
  if (result.failed > 0 && group->failed_example.empty()) {
    group->failed_example = example;
  }
  group->usage_inconsistent += result.usage_inconsistent;
  if (round_case.allow_wrong_length) return;
  group->wrong_input_length += result.wrong_input_length;
  group->wrong_length += result.wrong_length;
  const bool agree = result.total_output_tokens ==
                     result.completed * int64_t{round_case.output_tokens};
  if (result.wrong_length == 0 && !agree) ++group->wrong_totals;
}

std::string InBrackets(const std::string& example) {
  if (example.empty()) return "";
  return absl::StrCat(" (", OneLine(example, kExampleBytes), ")");
}

void AddReasons(const Group& group, std::vector<std::string>* reasons) {
  const auto add = [&](int64_t count, int64_t of, absl::string_view what,
                       const std::string& example) {
    if (count == 0) return;
    reasons->push_back(absl::StrCat(group.name, ": ", count, " of ", of, " ",
                                    what, InBrackets(example)));
  };
  add(group.not_valid, group.rounds, "rounds not VALID",
      group.not_valid_example);
  add(group.failed, group.done, "requests failed", group.failed_example);
  add(group.wrong_length, group.done,
      "requests with another output length than asked", "");
  add(group.wrong_input_length, group.done,
      "requests with another input length than asked", "");
  add(group.usage_inconsistent, group.done,
      "requests whose usage contradicts their stream", "");
  add(group.wrong_totals, group.rounds,
      "rounds whose total of output tokens is not the one asked", "");
  if (group.done != group.planned) {
    reasons->push_back(absl::StrCat(group.name, ": ", group.done,
                                    " requests counted, ", group.planned,
                                    " planned"));
  }
}

}  // namespace

RunVerdict JudgeRounds(absl::Span<const PlannedOutcome> rounds) {
  RunVerdict verdict;
  if (rounds.empty()) {
    verdict.reasons.push_back("no rounds were planned");
    return verdict;
  }
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const PlannedOutcome& round : rounds) {
    const auto [place, added] =
        places.try_emplace({round.engine, round.round_case.id}, groups.size());
    if (added) {
      groups.emplace_back().name =
          absl::StrCat(round.engine, " ", round.round_case.id);
    }
    Group& group = groups[place->second];
    ++group.rounds;
    if (round.state == RoundState::kValid && round.result) {
      AddResult(round.round_case, *round.result, round.example, &group);
      continue;
    }
    ++group.not_valid;
    if (group.not_valid_example.empty()) {
      group.not_valid_example = round.example;
    }
  }
  for (const Group& group : groups) AddReasons(group, &verdict.reasons);
  verdict.pass = verdict.reasons.empty();
  if (verdict.reasons.size() > kMostReasons) {
    const size_t more = verdict.reasons.size() - kMostReasons;
    verdict.reasons.resize(kMostReasons);
    verdict.reasons.push_back(absl::StrCat("and ", more, " more reasons"));
  }
  return verdict;
}

std::string FailureExample(absl::Span<const StoredTiming> timings) {
  struct Kind {
    int64_t count = 0;
    std::string message, agent_id;
  };
  std::map<std::pair<int, uint32_t>, Kind> kinds;
  const Kind* most = nullptr;
  std::pair<int, uint32_t> key;
  for (const StoredTiming& stored : timings) {
    const v1::RequestTiming& timing = stored.timing;
    if (timing.outcome() == v1::COMPLETED) continue;
    Kind& kind = kinds[{timing.outcome(), timing.http_status()}];
    ++kind.count;
    if (kind.message.empty()) {
      kind.message = timing.error();
      kind.agent_id = stored.agent_id;
    }
  }
  for (const auto& [at, kind] : kinds) {
    if (most != nullptr && kind.count <= most->count) continue;
    most = &kind;
    key = at;
  }
  if (most == nullptr) return "";
  std::string text = absl::AsciiStrToLower(
      v1::Outcome_Name(static_cast<v1::Outcome>(key.first)));
  if (key.first == v1::HTTP_STATUS) absl::StrAppend(&text, " ", key.second);
  if (!most->agent_id.empty()) absl::StrAppend(&text, " on ", most->agent_id);
  if (!most->message.empty()) absl::StrAppend(&text, ": ", most->message);
  return OneLine(text, kExampleBytes);
}

}  // namespace benchfleet
