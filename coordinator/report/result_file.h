// Reads result files in the interchange format. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// The run that the file holds, with a result per round. A `benchfleet` key, as
// our own reports bear it, is dropped.
// InvalidArgument: lists the problems, each with its path; among them figures
// that contradict each other, such as aggregates that do not follow from the
// rows.
absl::StatusOr<NewRun> ParseResultFile(absl::string_view text);

}  // namespace benchfleet
