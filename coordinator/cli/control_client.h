// A running coordinator, as the verbs see it.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchfleet/v1/control.grpc.pb.h"

namespace benchfleet {

// Thread-safe. Unavailable: the coordinator cannot be reached; the message
// names its address.
class ControlClient {
 public:
  explicit ControlClient(std::string address);

  absl::StatusOr<v1::SubmitSuiteResponse> Submit(
      const v1::SubmitSuiteRequest& request);
  // Calls `seen` at every change until the run is over, which is returned. A
  // broken connection is made again for a while.
  absl::StatusOr<v1::RunProgress> Watch(
      int64_t run_id, const std::function<void(const v1::RunProgress&)>& seen);
  absl::Status Cancel(int64_t run_id);
  absl::StatusOr<std::vector<v1::RunSummary>> Runs();
  absl::StatusOr<std::vector<v1::AgentSummary>> Agents();
  absl::StatusOr<std::string> Report(int64_t run_id, v1::ReportFormat format);
  absl::StatusOr<std::string> RawArtifact(
      const v1::GetRawArtifactRequest& request);

 private:
  absl::StatusOr<std::string> Join(grpc::ClientReader<v1::ReportPiece>& pieces);
  absl::Status Explain(const grpc::Status& status) const;

  const std::string address_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::ControlService::Stub> stub_;
};

}  // namespace benchfleet
