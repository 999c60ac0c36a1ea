#include "coordinator/coordinator.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/channel.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/new_run.h"
#include "coordinator/report/round_result.h"
#include "coordinator/report/run_verdict.h"
#include "coordinator/store/sqlite_round_store.h"

namespace benchfleet {
namespace {

constexpr size_t kEventCapacity = 65536;
constexpr absl::Duration kLeaseTick = absl::Milliseconds(500);
constexpr std::chrono::seconds kShutdownGrace(2);

absl::Status ScoreRound(RoundStore& store, int64_t run_id,
                        const RoundRow& round, const AttemptRow& attempt) {
  ASSIGN_OR_RETURN(const RoundResult result,
                   ComputeStoredResult(store, run_id, round, attempt.id));
  return store.StoreRoundResult(round.id, result);
}

absl::StatusOr<RunEnding> EndingOf(RoundStore& store, int64_t run_id) {
  ASSIGN_OR_RETURN(RunVerdict verdict, JudgeRun(store, run_id));
  return RunEnding{.verdict = verdict.pass ? "PASS" : "FAIL",
                   .reasons = std::move(verdict.reasons)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(
    CoordinatorOptions options, const Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<RoundStore> store,
                   OpenRoundStore(options.db_path));
  ASSIGN_OR_RETURN(const uint64_t epoch, store->BeginEpoch());
  std::unique_ptr<Coordinator> coordinator(
      new Coordinator(std::move(options), epoch, std::move(store), clock));
  RETURN_IF_ERROR(coordinator->TakeUpRuns());
  RETURN_IF_ERROR(coordinator->Listen());
  return coordinator;
}

Coordinator::Coordinator(CoordinatorOptions options, uint64_t epoch,
                         std::unique_ptr<RoundStore> store, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      events_(kEventCapacity),
      ingest_(std::move(store)),
      pool_(clock, options_.lease, events_),
      stop_(1) {
  runner_ = std::make_unique<Runner>(
      epoch, ingest_, pool_, events_, board_, clock,
      Scoring{.score_round = ScoreRound, .judge_run = EndingOf});
  fleet_ = std::make_unique<FleetServiceShell>(epoch, pool_, events_, ingest_,
                                               clock);
  control_ = std::make_unique<ControlServiceShell>(
      options_.db_path, pool_, ingest_, board_, *runner_, clock);
  lease_thread_ = std::thread([this] {
    while (!stop_.WaitClosed(kLeaseTick)) pool_.CloseLapsed();
  });
}

Coordinator::~Coordinator() {
  // While agents can still hear it. The services use the runner until the
  // server is down.
  runner_->Stop();
  events_.Close();
  stop_.Close();
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
    server_->Wait();
  }
  lease_thread_.join();
}

absl::Status Coordinator::Listen() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetServerOptions(builder);
  int port = 0;
  builder.AddListeningPort(options_.listen, grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(fleet_.get());
  builder.RegisterService(control_.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", options_.listen,
                     ": the port is taken or the address is not this host's"));
  }
  const size_t colon = options_.listen.rfind(':');
  address_ = absl::StrCat(options_.listen.substr(0, colon), ":", port);
  return absl::OkStatus();
}

absl::Status Coordinator::TakeUpRuns() {
  ASSIGN_OR_RETURN(const std::vector<RunRow> runs,
                   ingest_.Get<std::vector<RunRow>>(
                       [](RoundStore& store) { return store.Runs(); }));
  for (const RunRow& run : runs) {
    if (IsUnfinished(run.state)) RETURN_IF_ERROR(TakeUp(run));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Coordinator::AgentsOf(int64_t run_id) {
  return ingest_.Get<uint32_t>(
      [&](RoundStore& store) -> absl::StatusOr<uint32_t> {
        size_t most = 1;
        ASSIGN_OR_RETURN(const auto rounds, store.Rounds(run_id));
        for (const RoundRow& round : rounds) {
          ASSIGN_OR_RETURN(const auto attempts, store.Attempts(round.id));
          for (const AttemptRow& attempt : attempts) {
            ASSIGN_OR_RETURN(const auto shares, store.Shares(attempt.id));
            most = std::max(most, shares.size());
          }
        }
        return static_cast<uint32_t>(most);
      });
}

absl::Status Coordinator::TakeUp(const RunRow& run) {
  absl::StatusOr<Plan> plan = PlanOfStoredRun(run);
  if (options_.resume_runs && plan.ok()) {
    LogInfo("run ", run.id, " goes on where it was");
    QueuedRun queued;
    queued.run_id = run.id;
    queued.plan = *std::move(plan);
    ASSIGN_OR_RETURN(queued.min_agents, AgentsOf(run.id));
    runner_->Queue(std::move(queued));
    return absl::OkStatus();
  }
  const std::string reason = options_.resume_runs
                                 ? std::string(plan.status().message())
                                 : "the coordinator that ran it ended";
  return ingest_.Call([&](RoundStore& store) {
    return store.SetRunState(run.id, v1::COULD_NOT_RUN, "", {reason},
                             clock_.WallNow());
  });
}

}  // namespace benchfleet
