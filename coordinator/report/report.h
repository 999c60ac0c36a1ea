// One entry to all formats.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// run_id 0: the latest. Unspecified format: text. NotFound: no such run.
absl::StatusOr<std::string> RenderReport(RoundStore& store, int64_t run_id,
                                         v1::ReportFormat format);

}  // namespace benchfleet
