#include "coordinator/cli/verb_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "coordinator/cli/exit_codes.h"

namespace benchfleet {

int FailVerb(absl::string_view verb, const absl::Status& status,
             int exit_code) {
  const std::string line =
      absl::StrCat("coordinator ", verb, ": ", status.message(), "\n");
  fwrite(line.data(), 1, line.size(), stderr);
  return exit_code;
}

int FailVerb(absl::string_view verb, const absl::Status& status) {
  const bool asked_wrong =
      absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return FailVerb(verb, status, asked_wrong ? kExitUsage : kExitCouldNotRun);
}

int PrintAll(absl::string_view verb, absl::string_view text) {
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      fflush(stdout) == 0) {
    return kExitPass;
  }
  return FailVerb(verb,
                  absl::UnavailableError(
                      absl::StrCat("cannot write output: ", strerror(errno))),
                  kExitCouldNotRun);
}

absl::StatusOr<int64_t> ParseRunId(absl::string_view text) {
  int64_t run_id = 0;
  if (absl::SimpleAtoi(text, &run_id) && run_id > 0) return run_id;
  return absl::InvalidArgumentError(
      absl::StrCat("run \"", text, "\": expected a number from 1"));
}

}  // namespace benchfleet
