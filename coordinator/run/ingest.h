// The one thread that writes to the store.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchfleet/v1/fleet.pb.h"
#include "common/bounded_queue.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// Thread-safe. Callers wait until their write is durable, so what is
// acknowledged is stored; the queue holds one entry per waiting caller.
class Ingest {
 public:
  explicit Ingest(std::unique_ptr<RoundStore> store);
  // Finishes what is queued, then closes the store.
  ~Ingest();

  // Runs `write` on the writer's thread and waits for it. Reads that must see
  // the newest state may go here, too.
  absl::Status Call(std::function<absl::Status(RoundStore&)> write);

  template <typename T>
  absl::StatusOr<T> Get(
      std::function<absl::StatusOr<T>(RoundStore&)> operation) {
    absl::StatusOr<T> result = absl::UnknownError("not run");
    const absl::Status called = Call([&](RoundStore& store) {
      result = operation(store);
      return absl::OkStatus();
    });
    if (!called.ok()) return called;
    return result;
  }

 private:
  using Job = std::function<void(RoundStore&)>;

  void Run();

  std::unique_ptr<RoundStore> store_;
  BoundedQueue<Job> jobs_;
  std::thread thread_;
};

}  // namespace benchfleet
