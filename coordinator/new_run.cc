#include "coordinator/new_run.h"

#include "absl/strings/str_cat.h"
#include "coordinator/plan/suite_check.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {

NewRun MakeNewRun(const Plan& plan, absl::string_view suite_text,
                  absl::Time now) {
  NewRun made;
  RunRow& run = made.run;
  const v1::Suite& suite = plan.suite;
  run.suite_name = suite.name();
  run.suite_text = std::string(suite_text);
  run.seed = plan.seed;
  run.model = suite.model();
  run.precision = suite.precision();
  run.hardware = suite.hardware();
  run.context_window = suite.context_window();
  run.max_running_requests = suite.max_running_requests();
  run.tensor_parallel_size = suite.tensor_parallel_size();
  run.repeats = suite.repeats();
  run.state = v1::QUEUED;
  run.created = now;
  for (const v1::Engine& engine : suite.engines()) {
    made.engines.push_back(
        {.name = engine.name(),
         .kind = v1::EngineKind_Name(engine.kind()),
         .base_url = engine.base_url(),
         .model = engine.model(),
         .insecure_skip_verify = engine.insecure_skip_verify()});
  }
  for (const PlannedCase& planned : plan.cases) {
    made.cases.push_back({.id = planned.id,
                          .input_tokens = planned.input_tokens,
                          .output_tokens = planned.output_tokens,
                          .concurrency = planned.concurrency,
                          .requests = planned.requests,
                          .warmup_requests = planned.warmup_requests,
                          .allow_wrong_length = planned.allow_wrong_length});
  }
  for (const PlannedRound& round : plan.rounds) {
    made.rounds.push_back({.index = round.index,
                           .engine = round.engine,
                           .case_index = round.case_index,
                           .repeat = round.repeat,
                           .request_seed = round.request_seed,
                           .warmup_seed = round.warmup_seed});
  }
  return made;
}

absl::StatusOr<Plan> PlanOfStoredRun(const RunRow& run) {
  ParsedSuite parsed = ParseSuite(run.suite_text);
  if (!parsed.problems.empty()) {
    return absl::InternalError(
        absl::StrCat("run ", run.id,
                     ": its stored suite does not pass this build's checks: ",
                     FormatProblems("suite", parsed.problems)));
  }
  return MakePlan(parsed.suite, run.seed);
}

}  // namespace benchfleet
