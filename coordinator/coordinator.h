// The coordinator process: wires store, fleet and services together.
#pragma once

#include <grpcpp/server.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/control_service.h"
#include "coordinator/fleet_service.h"

namespace benchfleet {

struct CoordinatorOptions {
  std::string listen;  // HOST:PORT, port 0: any
  std::string db_path;
  absl::Duration lease = absl::Seconds(10);
  // Unfinished runs of an earlier life: go on with them, or close them.
  bool resume_runs = true;
};

class Coordinator {
 public:
  // FailedPrecondition: database or port are taken or cannot be used.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(
      CoordinatorOptions options, const Clock& clock);
  // Stops serving; what was acknowledged is stored, one file remains.
  ~Coordinator();

  // HOST:PORT that it listens on.
  const std::string& address() const { return address_; }

 private:
  Coordinator(CoordinatorOptions options, uint64_t epoch,
              std::unique_ptr<RoundStore> store, const Clock& clock);
  absl::Status Listen();
  absl::Status TakeUpRuns();
  absl::Status TakeUp(const RunRow& run);
  // As many as took part before: the run waits for them to come back.
  absl::StatusOr<uint32_t> AgentsOf(int64_t run_id);

  const CoordinatorOptions options_;
  const Clock& clock_;
  std::string address_;
  FleetEvents events_;
  Ingest ingest_;
  AgentPool pool_;
  RunBoard board_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<FleetServiceShell> fleet_;
  std::unique_ptr<ControlServiceShell> control_;
  std::unique_ptr<grpc::Server> server_;
  BoundedQueue<int> stop_;  // closed at the end
  std::thread lease_thread_;
};

}  // namespace benchfleet
