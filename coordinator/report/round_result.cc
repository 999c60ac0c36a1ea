#include "coordinator/report/round_result.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "coordinator/report/metrics.h"
#include "coordinator/report/raw_artifact.h"

namespace benchfleet {
namespace {

struct AttemptFacts {
  RawArtifactHead head;
  std::vector<ShareRow> shares;
  std::vector<StoredTiming> timings;
};

absl::StatusOr<AttemptFacts> ReadFacts(RoundStore& store, int64_t run_id,
                                       const RoundRow& round,
                                       int64_t attempt_id) {
  AttemptFacts facts;
  ASSIGN_OR_RETURN(const RunRow run, store.Run(run_id));
  ASSIGN_OR_RETURN(const std::vector<EngineRow> engines, store.Engines(run.id));
  ASSIGN_OR_RETURN(const std::vector<CaseRow> cases, store.Cases(run.id));
  if (round.engine >= engines.size() || round.case_index >= cases.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("round ", round.id, " is none of run ", run.id));
  }
  facts.head = {run.id,
                run.suite_name,
                engines[round.engine].name,
                cases[round.case_index],
                round.repeat,
                attempt_id,
                round.request_seed};
  ASSIGN_OR_RETURN(facts.shares, store.Shares(attempt_id));
  ASSIGN_OR_RETURN(facts.timings, store.Timings(attempt_id));
  return facts;
}

// Index of the row with this name; NotFound lists the names there are.
template <typename Row>
absl::StatusOr<uint32_t> IndexOf(const std::vector<Row>& rows,
                                 std::string Row::*name,
                                 absl::string_view wanted,
                                 absl::string_view what) {
  for (uint32_t i = 0; i < rows.size(); ++i) {
    if (rows[i].*name == wanted) return i;
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no ", what, " ", wanted.empty() ? "\"\"" : wanted,
      "; there are ",
      absl::StrJoin(rows, ", ", [name](std::string* out, const Row& row) {
        absl::StrAppend(out, row.*name);
      })));
}

}  // namespace

absl::StatusOr<RoundResult> ComputeStoredResult(RoundStore& store,
                                                int64_t run_id,
                                                const RoundRow& round,
                                                int64_t attempt_id) {
  ASSIGN_OR_RETURN(const AttemptFacts facts,
                   ReadFacts(store, run_id, round, attempt_id));
  RoundResult result =
      ComputeRoundResult(facts.head.round_case, facts.shares, facts.timings);
  result.attempt_id = attempt_id;
  result.source_sha256 =
      Sha256Hex(RawArtifact(facts.head, facts.shares, facts.timings));
  return result;
}

absl::StatusOr<std::string> StoredRawArtifact(RoundStore& store, int64_t run_id,
                                              const RoundRow& round,
                                              int64_t attempt_id) {
  ASSIGN_OR_RETURN(const AttemptFacts facts,
                   ReadFacts(store, run_id, round, attempt_id));
  return RawArtifact(facts.head, facts.shares, facts.timings);
}

absl::StatusOr<std::string> FindRawArtifact(RoundStore& store, int64_t run_id,
                                            absl::string_view engine,
                                            absl::string_view case_id,
                                            uint32_t repeat) {
  ASSIGN_OR_RETURN(const RunRow run, store.Run(run_id));
  if (run.imported) {
    return absl::FailedPreconditionError(absl::StrCat(
        "run ", run.id, " was imported; its raw artifacts are elsewhere"));
  }
  ASSIGN_OR_RETURN(const std::vector<EngineRow> engines, store.Engines(run.id));
  ASSIGN_OR_RETURN(const std::vector<CaseRow> cases, store.Cases(run.id));
  ASSIGN_OR_RETURN(const uint32_t engine_index,
                   IndexOf(engines, &EngineRow::name, engine, "engine"));
  ASSIGN_OR_RETURN(const uint32_t case_index,
                   IndexOf(cases, &CaseRow::id, case_id, "case"));
  ASSIGN_OR_RETURN(const std::vector<RoundRow> rounds, store.Rounds(run.id));
  for (const RoundRow& round : rounds) {
    if (round.engine != engine_index || round.case_index != case_index ||
        round.repeat != repeat) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<RoundResult> result,
                     store.Result(round.id));
    if (result) {
      return StoredRawArtifact(store, run.id, round, result->attempt_id);
    }
  }
  return absl::NotFoundError(
      absl::StrCat("run ", run.id, ": ", engine, " ", case_id, " has no VALID ",
                   "repeat ", repeat, " (repeats 1 to ", run.repeats, ")"));
}

}  // namespace benchfleet
