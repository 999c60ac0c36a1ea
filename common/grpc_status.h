// absl and gRPC codes map one for one.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace benchfleet {

grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace benchfleet
