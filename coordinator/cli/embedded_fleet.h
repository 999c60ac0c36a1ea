// A coordinator in this process and agents as its children, for `submit`
// without --coordinator.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/coordinator.h"

namespace benchfleet {

// Make and destroy it on the same thread, which must live as long: children
// end when the thread that started them does.
class EmbeddedFleet {
 public:
  static absl::StatusOr<std::unique_ptr<EmbeddedFleet>> Start(
      const std::string& db_path, uint32_t agents, const Clock& clock);
  // Ends the children, then the coordinator.
  ~EmbeddedFleet();

  const std::string& address() const { return coordinator_->address(); }

 private:
  explicit EmbeddedFleet(std::unique_ptr<Coordinator> coordinator)
      : coordinator_(std::move(coordinator)) {}
  absl::Status StartAgent(const std::string& binary, uint32_t number);

  std::unique_ptr<Coordinator> coordinator_;
  std::vector<pid_t> children_;
};

}  // namespace benchfleet
