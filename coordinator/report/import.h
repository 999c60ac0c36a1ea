// Result files of elsewhere as runs of the store.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/report/result_file.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// The id of the run. The same file again is the run it became before.
// InvalidArgument: as ParseResultFile.
absl::StatusOr<int64_t> ImportResultFile(RoundStore& store,
                                         absl::string_view text,
                                         absl::Time now);

}  // namespace benchfleet
