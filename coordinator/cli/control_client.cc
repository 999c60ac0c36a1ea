#include "coordinator/cli/control_client.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/channel.h"
#include "common/grpc_status.h"

namespace benchfleet {
namespace {

constexpr std::chrono::seconds kConnectWait(5);
// A restarted coordinator is back within this.
constexpr int kWatchRetries = 12;
constexpr absl::Duration kTakeUpWait = absl::Milliseconds(200);

std::chrono::system_clock::time_point ConnectDeadline() {
  return std::chrono::system_clock::now() + kConnectWait;
}

}  // namespace

ControlClient::ControlClient(std::string address)
    : address_(std::move(address)),
      channel_(DialCoordinator(address_)),
      stub_(v1::ControlService::NewStub(channel_)) {
  channel_->WaitForConnected(ConnectDeadline());
}

absl::Status ControlClient::Explain(const grpc::Status& status) const {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) {
    return FromGrpc(status);
  }
  return absl::UnavailableError(absl::StrCat(
      "cannot reach a coordinator at ", address_, ": ", status.error_message(),
      "; start one with: coordinator serve --listen=HOST:PORT --db=FILE"));
}

absl::StatusOr<v1::SubmitSuiteResponse> ControlClient::Submit(
    const v1::SubmitSuiteRequest& request) {
  grpc::ClientContext context;
  v1::SubmitSuiteResponse response;
  const grpc::Status status = stub_->SubmitSuite(&context, request, &response);
  if (!status.ok()) return Explain(status);
  return response;
}

absl::StatusOr<v1::RunProgress> ControlClient::Watch(
    int64_t run_id, const std::function<void(const v1::RunProgress&)>& seen) {
  v1::WatchRunRequest request;
  request.set_run_id(run_id);
  v1::RunProgress last;
  bool ever_heard = false;
  for (int tries = 0;; ++tries) {
    grpc::ClientContext context;
    auto reader = stub_->WatchRun(&context, request);
    bool heard = false;
    while (reader->Read(&last)) {
      heard = ever_heard = true;
      seen(last);
    }
    const grpc::Status status = reader->Finish();
    const bool over = last.state() != v1::QUEUED && last.state() != v1::RUNNING;
    if (status.ok() && heard && over) return last;
    const bool lost = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                      status.error_code() == grpc::StatusCode::CANCELLED;
    if (!status.ok() && !lost) return FromGrpc(status);
    // Not over, and yet no news to wait for: it is just being taken up.
    if (status.ok() && heard) absl::SleepFor(kTakeUpWait);
    if (heard) tries = 0;
    if (!ever_heard || tries >= kWatchRetries) return Explain(status);
    channel_->WaitForConnected(ConnectDeadline());
  }
}

absl::Status ControlClient::Cancel(int64_t run_id) {
  grpc::ClientContext context;
  v1::CancelRunRequest request;
  request.set_run_id(run_id);
  v1::CancelRunResponse response;
  const grpc::Status status = stub_->CancelRun(&context, request, &response);
  return status.ok() ? absl::OkStatus() : Explain(status);
}

absl::StatusOr<std::vector<v1::RunSummary>> ControlClient::Runs() {
  grpc::ClientContext context;
  v1::ListRunsResponse response;
  const grpc::Status status = stub_->ListRuns(&context, {}, &response);
  if (!status.ok()) return Explain(status);
  return std::vector<v1::RunSummary>(response.runs().begin(),
                                     response.runs().end());
}

absl::StatusOr<std::vector<v1::AgentSummary>> ControlClient::Agents() {
  grpc::ClientContext context;
  v1::ListAgentsResponse response;
  const grpc::Status status = stub_->ListAgents(&context, {}, &response);
  if (!status.ok()) return Explain(status);
  return std::vector<v1::AgentSummary>(response.agents().begin(),
                                       response.agents().end());
}

absl::StatusOr<std::string> ControlClient::Report(int64_t run_id,
                                                  v1::ReportFormat format) {
  grpc::ClientContext context;
  v1::GetReportRequest request;
  request.set_run_id(run_id);
  request.set_format(format);
  return Join(*stub_->GetReport(&context, request));
}

absl::StatusOr<std::string> ControlClient::RawArtifact(
    const v1::GetRawArtifactRequest& request) {
  grpc::ClientContext context;
  return Join(*stub_->GetRawArtifact(&context, request));
}

absl::StatusOr<std::string> ControlClient::Join(
    grpc::ClientReader<v1::ReportPiece>& pieces) {
  std::string text;
  v1::ReportPiece piece;
  while (pieces.Read(&piece)) text += piece.data();
  const grpc::Status status = pieces.Finish();
  if (!status.ok()) return Explain(status);
  return text;
}

}  // namespace benchfleet
