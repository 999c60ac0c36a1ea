// How long things take in a simulated engine, and how it schedules. A profile
// file is lines of `key value`; '#' starts a comment.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace benchfleet::enginesim {

enum class Scheduling {
  // SGLang: a prefill step comes first and decodes wait. What a step produced
  // is sent only after the next step has been launched.
  kPrefillFirst,
  // vLLM: prefill chunks ride in the decode step. The next step is planned
  // while one runs, so an arrival waits for the step after that.
  kMixed,
};

// Ms by a size, ascending and never empty. Interpolated; past the end the last
// slope goes on.
using StepTable = std::vector<std::pair<uint32_t, double>>;
double Interpolate(const StepTable& table, uint32_t size);

// Times in ms of the modelled engine.
struct Profile {
  Scheduling scheduling = Scheduling::kMixed;
  uint32_t max_running_requests = 32;
  uint32_t context_window = 32768;
  // Tokens of one step: prefill (and decode, if mixed).
  uint32_t chunk_tokens = 2048;

  // From the last byte of a request until the scheduler can see it. Requests
  // leave this stage one by one, frontend_spacing_ms apart.
  double frontend_ms = 1;
  double frontend_ms_per_token = 0;
  double frontend_spacing_ms = 0.1;

  // A step with prefill: by its tokens, plus a term by the (token, earlier
  // token) pairs that attention looks at.
  StepTable prefill_ms = {{1, 5}, {512, 5}, {1024, 10}};
  double prefill_ms_per_pair = 0;
  // Of that, the launch, which keeps the scheduler busy. Mixed: decodes of the
  // step come on top of it. Prefill-first: it holds back the results of the
  // step before.
  double prefill_launch_ms = 5;

  // A step without prefill: by batch size, plus a term by the sum of the
  // contexts.
  StepTable decode_ms = {{1, 2}, {32, 4}};
  double decode_ms_per_context_token = 0;

  // When a request may still join a step. Prefill-first: the step that an
  // idle engine starts stays open for gather_ms + the last decode step's time
  // x gather_per_decode + uniform(0, gather_jitter_ms). Mixed: the planning of
  // the next step takes place min(gather_max_ms, gather_per_finished_ms x the
  // requests just finished) + uniform(0, gather_jitter_ms) after the start of
  // the current one.
  double gather_ms = 0;
  double gather_per_decode = 0;
  double gather_per_finished_ms = 0;
  double gather_max_ms = 0;
  double gather_jitter_ms = 0;

  // Relative standard deviation of a step's time.
  double jitter = 0;
};

// InvalidArgument names the line.
absl::StatusOr<Profile> ParseProfile(absl::string_view text);
// NotFound or InvalidArgument with the path.
absl::StatusOr<Profile> ReadProfile(const std::string& path);
// What ParseProfile reads back; doubles in their shortest exact form.
std::string ProfileText(const Profile& profile);

// A number of a profile by its key, for fitting; null if there is no such
// key. Table entries are "decode_ms.N" and "prefill_ms.N".
double* MutableNumber(Profile& profile, absl::string_view key);

}  // namespace benchfleet::enginesim
