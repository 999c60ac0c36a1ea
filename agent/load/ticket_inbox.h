// Where requests wait between being drawn and being sent: filled by the
// session's thread, bodies built, emptied by the load loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "common/mutex.h"

namespace benchfleet {

// A request whose body is ready to go.
struct ReadyRequest {
  uint32_t ordinal = 0;
  std::string body;
  uint64_t body_hash = 0;
};

// Thread-safe. Bounded by the coordinator's leases: at most two per slot.
class TicketInbox {
 public:
  struct Supply {
    bool exhausted = false;    // no more will come
    bool running_low = false;  // ask for idle slots only
  };

  void Add(std::vector<ReadyRequest> requests, Supply supply);

  // For the loop, each turn: true if there is something to Take. No lock.
  bool has_news() const { return news_.load(std::memory_order_acquire); }
  // Appends what has come to `requests`; returns what to expect.
  Supply Take(std::vector<ReadyRequest>& requests);

 private:
  std::atomic<bool> news_{false};
  Mutex mutex_;
  std::vector<ReadyRequest> requests_ ABSL_GUARDED_BY(mutex_);
  Supply supply_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace benchfleet
