#include "coordinator/control_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/grpc_status.h"
#include "common/random.h"
#include "coordinator/agent_summary.h"
#include "coordinator/new_run.h"
#include "coordinator/plan/suite_parser.h"
#include "coordinator/report/report.h"
#include "coordinator/report/round_result.h"
#include "coordinator/report/run_summaries.h"
#include "coordinator/store/sqlite_round_store.h"

namespace benchfleet {
namespace {

constexpr absl::Duration kWatchTick = absl::Milliseconds(500);
constexpr size_t kPieceBytes = 256 * 1024;

v1::RunProgress ProgressOf(const RunRow& run) {
  v1::RunProgress progress;
  progress.set_run_id(run.id);
  progress.set_suite_name(run.suite_name);
  progress.set_state(run.state);
  progress.set_verdict(run.verdict);
  for (const std::string& reason : run.reasons) progress.add_reasons(reason);
  return progress;
}

}  // namespace

grpc::Status ControlServiceShell::SubmitSuite(
    grpc::ServerContext*, const v1::SubmitSuiteRequest* request,
    v1::SubmitSuiteResponse* response) {
  ParsedSuite parsed = ParseSuite(request->suite_text());
  if (!parsed.problems.empty()) {
    response->set_problems(
        FormatProblems(request->file_name(), parsed.problems));
    return grpc::Status::OK;
  }
  QueuedRun run;
  run.plan = MakePlan(parsed.suite, RandomSeedFromSystem());
  if (request->agent_wait_ns() != 0) {
    run.agent_wait =
        absl::Nanoseconds(static_cast<int64_t>(request->agent_wait_ns()));
  }
  run.min_agents = std::max(request->min_agents(), 1u);
  const NewRun made =
      MakeNewRun(run.plan, request->suite_text(), clock_.WallNow());
  const absl::StatusOr<int64_t> id = ingest_.Get<int64_t>(
      [&](RoundStore& store) { return store.CreateRun(made); });
  if (!id.ok()) return ToGrpc(id.status());
  run.run_id = *id;
  response->set_run_id(*id);
  response->set_seed(run.plan.seed);
  response->set_seed_was_drawn(run.plan.seed_was_drawn);
  response->set_rounds(static_cast<uint32_t>(run.plan.rounds.size()));
  response->set_requests(run.plan.TotalRequests());
  runner_.Queue(std::move(run));
  return grpc::Status::OK;
}

grpc::Status ControlServiceShell::WatchRun(
    grpc::ServerContext* context, const v1::WatchRunRequest* request,
    grpc::ServerWriter<v1::RunProgress>* writer) {
  const absl::StatusOr<RunRow> row = ingest_.Get<RunRow>(
      [&](RoundStore& store) { return store.Run(request->run_id()); });
  if (!row.ok()) return ToGrpc(row.status());
  if (!board_.Has(row->id)) {
    writer->Write(ProgressOf(*row));
    return grpc::Status::OK;
  }
  uint64_t seen = 0;
  while (!context->IsCancelled()) {
    const std::optional<RunBoard::Posted> news =
        board_.WaitForNews(row->id, seen, kWatchTick);
    if (!news) continue;
    seen = news->version;
    if (!writer->Write(news->progress)) break;
    if (!IsUnfinished(news->progress.state())) break;
  }
  return grpc::Status::OK;
}

grpc::Status ControlServiceShell::CancelRun(grpc::ServerContext*,
                                            const v1::CancelRunRequest* request,
                                            v1::CancelRunResponse* response) {
  const absl::StatusOr<RunRow> row = ingest_.Get<RunRow>(
      [&](RoundStore& store) { return store.Run(request->run_id()); });
  if (!row.ok()) return ToGrpc(row.status());
  if (IsUnfinished(row->state)) runner_.Cancel(row->id);
  response->set_state(row->state);
  return grpc::Status::OK;
}

grpc::Status ControlServiceShell::ListRuns(grpc::ServerContext*,
                                           const v1::ListRunsRequest*,
                                           v1::ListRunsResponse* response) {
  const absl::StatusOr<std::vector<v1::RunSummary>> runs =
      ingest_.Get<std::vector<v1::RunSummary>>(
          [&](RoundStore& store) { return Summaries(store); });
  if (!runs.ok()) return ToGrpc(runs.status());
  for (const v1::RunSummary& run : *runs) *response->add_runs() = run;
  return grpc::Status::OK;
}

grpc::Status ControlServiceShell::ListAgents(grpc::ServerContext*,
                                             const v1::ListAgentsRequest*,
                                             v1::ListAgentsResponse* response) {
  const absl::StatusOr<std::vector<AgentRow>> known =
      ingest_.Get<std::vector<AgentRow>>(
          [&](RoundStore& store) { return store.Agents(); });
  if (!known.ok()) return ToGrpc(known.status());
  const auto connected = pool_.Agents();
  for (const AgentRow& row : *known) {
    v1::AgentSummary& agent = *response->add_agents();
    agent = SummaryOf(row);
    agent.set_connected(connected.contains(row.agent_id));
    if (agent.connected()) {
      agent.set_last_seen_unix_ns(absl::ToUnixNanos(clock_.WallNow()));
      agent.set_busy_with(runner_.BusyWith());
    }
  }
  return grpc::Status::OK;
}

grpc::Status ControlServiceShell::GetReport(
    grpc::ServerContext*, const v1::GetReportRequest* request,
    grpc::ServerWriter<v1::ReportPiece>* writer) {
  return SendText(
      [&](RoundStore& store) {
        return RenderReport(store, request->run_id(), request->format());
      },
      *writer);
}

grpc::Status ControlServiceShell::GetRawArtifact(
    grpc::ServerContext*, const v1::GetRawArtifactRequest* request,
    grpc::ServerWriter<v1::ReportPiece>* writer) {
  return SendText(
      [&](RoundStore& store) {
        return FindRawArtifact(store, request->run_id(), request->engine(),
                               request->case_id(), request->repeat());
      },
      *writer);
}

grpc::Status ControlServiceShell::SendText(
    const std::function<absl::StatusOr<std::string>(RoundStore&)>& read,
    grpc::ServerWriter<v1::ReportPiece>& writer) {
  const absl::StatusOr<std::unique_ptr<RoundStore>> store =
      OpenRoundStoreReadOnly(db_path_);
  if (!store.ok()) return ToGrpc(store.status());
  const absl::StatusOr<std::string> text = read(**store);
  if (!text.ok()) return ToGrpc(text.status());
  for (size_t at = 0; at < text->size(); at += kPieceBytes) {
    v1::ReportPiece piece;
    piece.set_data(text->substr(at, kPieceBytes));
    if (!writer.Write(piece)) break;
  }
  return grpc::Status::OK;
}

}  // namespace benchfleet
