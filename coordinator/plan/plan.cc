#include "coordinator/plan/plan.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "common/random.h"
#include "common/sha256.h"
#include "coordinator/plan/case_family.h"

namespace benchfleet {
namespace {

constexpr uint32_t kDefaultMaxAttempts = 3;

// What a seed is for, so that no two uses share one.
enum class SeedUse : uint64_t { kCounted = 1, kWarmup = 2 };

// A case keeps its requests when others are added to the suite or moved.
uint64_t CaseKey(const PlannedCase& planned) {
  const Sha256Digest digest = Sha256(planned.id);
  uint64_t key = 0;
  for (size_t i = 0; i < 8; ++i) key = (key << 8) | digest[i];
  return key;
}

// Engine models default to the suite's and the other way round.
void FillModels(v1::Suite& suite) {
  std::vector<std::string> models;
  for (v1::Engine& engine : *suite.mutable_engines()) {
    if (engine.model().empty()) engine.set_model(suite.model());
    if (std::find(models.begin(), models.end(), engine.model()) ==
        models.end()) {
      models.push_back(engine.model());
    }
  }
  if (suite.model().empty()) suite.set_model(absl::StrJoin(models, ", "));
}

PlannedCase MakeCase(const v1::CaseFamily& family, int index) {
  PlannedCase planned;
  planned.id = MemberId(family, index);
  planned.input_tokens = family.input_tokens();
  planned.output_tokens = family.output_tokens();
  planned.concurrency = family.concurrency(index);
  planned.requests = ForMember(family.requests(), index);
  planned.warmup_requests = ForMember(family.warmup_requests(), index);
  if (family.endpoint() != v1::ENDPOINT_UNSPECIFIED) {
    planned.endpoint = family.endpoint();
  }
  planned.prompt_format = family.prompt_format();
  planned.allow_wrong_length = family.allow_wrong_length();
  planned.include_usage = !family.has_include_usage() || family.include_usage();
  return planned;
}

void AddRounds(Plan& plan) {
  for (int engine = 0; engine < plan.suite.engines_size(); ++engine) {
    for (size_t c = 0; c < plan.cases.size(); ++c) {
      const uint64_t key = CaseKey(plan.cases[c]);
      for (uint32_t repeat = 1; repeat <= plan.suite.repeats(); ++repeat) {
        const auto seed_for = [&](SeedUse use) {
          return DeriveSeed(
              {plan.seed, static_cast<uint64_t>(use), key, repeat});
        };
        PlannedRound round;
        round.index = static_cast<uint32_t>(plan.rounds.size());
        round.engine = static_cast<uint32_t>(engine);
        round.case_index = static_cast<uint32_t>(c);
        round.repeat = repeat;
        round.request_seed = seed_for(SeedUse::kCounted);
        round.warmup_seed = seed_for(SeedUse::kWarmup);
        plan.rounds.push_back(round);
      }
    }
  }
}

}  // namespace

uint64_t Plan::TotalRequests() const {
  uint64_t total = 0;
  for (const PlannedRound& round : rounds) {
    total += cases[round.case_index].requests;
  }
  return total;
}

Plan MakePlan(const v1::Suite& suite, uint64_t drawn_seed) {
  Plan plan;
  plan.suite = suite;
  plan.seed_was_drawn = !suite.has_seed();
  plan.seed = suite.has_seed() ? suite.seed() : drawn_seed;
  plan.suite.set_seed(plan.seed);
  if (suite.max_attempts() == 0) {
    plan.suite.set_max_attempts(kDefaultMaxAttempts);
  }
  FillModels(plan.suite);
  for (const v1::CaseFamily& family : suite.cases()) {
    for (int i = 0; i < family.concurrency_size(); ++i) {
      plan.cases.push_back(MakeCase(family, i));
    }
  }
  AddRounds(plan);
  return plan;
}

v1::PromptFormat ResolvePromptFormat(const v1::Engine& engine,
                                     const PlannedCase& planned) {
  if (planned.prompt_format != v1::PROMPT_FORMAT_UNSPECIFIED) {
    return planned.prompt_format;
  }
  const bool takes_ids = engine.kind() == v1::VLLM ||
                         engine.kind() == v1::SGLANG ||
                         engine.kind() == v1::LLAMACPP;
  return takes_ids && planned.endpoint == v1::COMPLETIONS ? v1::TOKEN_IDS
                                                          : v1::TEXT;
}

}  // namespace benchfleet
