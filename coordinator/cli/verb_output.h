// How verbs end: text to stdout, problems to stderr, an exit code.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

// Prints "coordinator VERB: message" and returns `exit_code`.
int FailVerb(absl::string_view verb, const absl::Status& status, int exit_code);
// With the exit code that fits: usage for InvalidArgument and NotFound, else
// could not run.
int FailVerb(absl::string_view verb, const absl::Status& status);

// Writes to stdout; kExitCouldNotRun if that fails.
int PrintAll(absl::string_view verb, absl::string_view text);

// A run's number on the command line: whole, from 1.
absl::StatusOr<int64_t> ParseRunId(absl::string_view text);

}  // namespace benchfleet
