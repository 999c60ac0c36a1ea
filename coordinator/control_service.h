// The gRPC service of operators. Owns no logic.
#pragma once

#include <functional>
#include <string>

#include "benchfleet/v1/control.grpc.pb.h"
#include "common/clock.h"
#include "coordinator/run/agent_pool.h"
#include "coordinator/run/ingest.h"
#include "coordinator/run/run_board.h"
#include "coordinator/run/runner.h"

namespace benchfleet {

class ControlServiceShell final : public v1::ControlService::Service {
 public:
  ControlServiceShell(std::string db_path, AgentPool& pool, Ingest& ingest,
                      RunBoard& board, Runner& runner, const Clock& clock)
      : db_path_(std::move(db_path)),
        pool_(pool),
        ingest_(ingest),
        board_(board),
        runner_(runner),
        clock_(clock) {}

  grpc::Status SubmitSuite(grpc::ServerContext* context,
                           const v1::SubmitSuiteRequest* request,
                           v1::SubmitSuiteResponse* response) override;
  grpc::Status WatchRun(grpc::ServerContext* context,
                        const v1::WatchRunRequest* request,
                        grpc::ServerWriter<v1::RunProgress>* writer) override;
  grpc::Status CancelRun(grpc::ServerContext* context,
                         const v1::CancelRunRequest* request,
                         v1::CancelRunResponse* response) override;
  grpc::Status ListRuns(grpc::ServerContext* context,
                        const v1::ListRunsRequest* request,
                        v1::ListRunsResponse* response) override;
  grpc::Status ListAgents(grpc::ServerContext* context,
                          const v1::ListAgentsRequest* request,
                          v1::ListAgentsResponse* response) override;
  grpc::Status GetReport(grpc::ServerContext* context,
                         const v1::GetReportRequest* request,
                         grpc::ServerWriter<v1::ReportPiece>* writer) override;
  grpc::Status GetRawArtifact(
      grpc::ServerContext* context, const v1::GetRawArtifactRequest* request,
      grpc::ServerWriter<v1::ReportPiece>* writer) override;

 private:
  // Reads on a connection of its own: a long report must not hold up the
  // ingest.
  grpc::Status SendText(
      const std::function<absl::StatusOr<std::string>(RoundStore&)>& read,
      grpc::ServerWriter<v1::ReportPiece>& writer);

  const std::string db_path_;
  AgentPool& pool_;
  Ingest& ingest_;
  RunBoard& board_;
  Runner& runner_;
  const Clock& clock_;
};

}  // namespace benchfleet
