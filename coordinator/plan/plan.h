// What a suite comes to: cases, rounds in order, seeds. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchfleet/v1/suite.pb.h"

namespace benchfleet {

// One member of a case family: a workload shape at one load point.
struct PlannedCase {
  std::string id;
  uint32_t input_tokens = 0;
  uint32_t output_tokens = 0;
  uint32_t concurrency = 0;
  uint32_t requests = 0;
  uint32_t warmup_requests = 0;
  v1::Endpoint endpoint = v1::COMPLETIONS;
  v1::PromptFormat prompt_format = v1::PROMPT_FORMAT_UNSPECIFIED;
  bool allow_wrong_length = false;
  bool include_usage = true;
};

struct PlannedRound {
  uint32_t index = 0;   // 0 .. rounds-1, the order of measuring
  uint32_t engine = 0;  // index into Plan::suite.engines()
  uint32_t case_index = 0;
  uint32_t repeat = 0;  // from 1
  // Equal on all engines for the same case and repeat, so that they get the
  // same requests.
  uint64_t request_seed = 0;
  uint64_t warmup_seed = 0;
};

struct Plan {
  v1::Suite suite;  // defaults filled in
  uint64_t seed = 0;
  bool seed_was_drawn = false;
  std::vector<PlannedCase> cases;
  std::vector<PlannedRound> rounds;

  // Counted requests over all rounds.
  uint64_t TotalRequests() const;
};

// Expands a checked suite: engines x cases x repeats, in this order.
// `drawn_seed` is used if the suite has none.
Plan MakePlan(const v1::Suite& suite, uint64_t drawn_seed);

// The format that requests really take: never unspecified.
v1::PromptFormat ResolvePromptFormat(const v1::Engine& engine,
                                     const PlannedCase& planned);

// share(i) = floor(C*W(<=i)/W) - floor(C*W(<i)/W): sums to `concurrency`. An
// agent with 0 takes no part. All weights > 0.
std::vector<uint32_t> SplitConcurrency(uint32_t concurrency,
                                       absl::Span<const uint32_t> weights);

}  // namespace benchfleet
