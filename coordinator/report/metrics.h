// A round's figures from the raw timings of its VALID attempt. Pure.
//
// Definitions (all samples pooled over agents, completed requests only):
//   TTFT  first content chunk - sent
//   E2EL  last content chunk - sent
//   TPOT  (E2EL - TTFT) / (output_tokens - 1); left out below 2 output tokens
//         or 2 content chunks
//   ITL   gaps between neighbouring content chunks
//   duration  last end - first send on the coordinator's timeline, failed
//             requests included
// A figure without a sample is absent, never 0.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// All of a RoundResult but `attempt_id` and `source_sha256`.
RoundResult ComputeRoundResult(const CaseRow& round_case,
                               absl::Span<const ShareRow> shares,
                               absl::Span<const StoredTiming> timings);

// SHA-256 over lines "ordinal body_hash\n" by ordinal, the hash in 16 hex
// digits: equal for equal request sets.
std::string RequestSetSha256(absl::Span<const StoredTiming> timings);

}  // namespace benchfleet
