// The canonical raw artifact of an attempt: everything its figures were
// computed from, as JSON lines that anyone can read and hash. The same facts
// give the same bytes. Pure.
//
//   line 1  {"format": "benchfleet-raw-1", run, suite, engine, case, repeat,
//            attempt, seed, shape, shares by agent}
//   then    one line per request by ordinal: all raw facts. *_ns are
//           CLOCK_MONOTONIC of the agent's host, 0 meaning "did not happen";
//           token_delta_ns counts the first content chunk from sent_ns, each
//           other from the one before.
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

struct RawArtifactHead {
  int64_t run_id = 0;
  std::string suite_name;
  std::string engine;
  CaseRow round_case;
  uint32_t repeat = 0;
  int64_t attempt_id = 0;
  uint64_t request_seed = 0;
};

// Every line ends with a line feed.
std::string RawArtifact(const RawArtifactHead& head,
                        absl::Span<const ShareRow> shares,
                        absl::Span<const StoredTiming> timings);

}  // namespace benchfleet
