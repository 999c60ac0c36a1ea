#include "coordinator/run/ingest.h"

#include <future>
#include <optional>
#include <utility>

namespace benchfleet {
namespace {

constexpr size_t kWaitingCallers = 1024;
constexpr absl::Duration kIdleWait = absl::Seconds(1);

}  // namespace

Ingest::Ingest(std::unique_ptr<RoundStore> store)
    : store_(std::move(store)),
      jobs_(kWaitingCallers),
      thread_([this] { Run(); }) {}

Ingest::~Ingest() {
  jobs_.Close();
  thread_.join();
}

absl::Status Ingest::Call(std::function<absl::Status(RoundStore&)> write) {
  std::promise<absl::Status> done;
  std::future<absl::Status> result = done.get_future();
  const bool queued =
      jobs_.Push([&](RoundStore& store) { done.set_value(write(store)); });
  if (!queued)
    return absl::UnavailableError("the coordinator is shutting down");
  return result.get();
}

void Ingest::Run() {
  while (!jobs_.closed_and_empty()) {
    std::optional<Job> job = jobs_.Pop(kIdleWait);
    if (job) (*job)(*store_);
  }
  store_.reset();
}

}  // namespace benchfleet
