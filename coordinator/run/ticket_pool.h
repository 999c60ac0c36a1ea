// The one pool of an attempt's requests. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace benchfleet {

// Hands out ordinals 0 .. requests-1, each once. Leases are as large as asked
// while there is plenty, and no larger than the idle slots when fewer than
// two per slot remain, so that no agent sits on a ticket that another's idle
// slot could take.
class TicketPool {
 public:
  TicketPool(uint32_t requests, uint32_t concurrency)
      : requests_(requests), concurrency_(concurrency) {}

  std::vector<uint32_t> Draw(uint32_t idle_slots, uint32_t want);
  uint32_t remaining() const { return requests_ - next_; }
  bool exhausted() const { return next_ == requests_; }
  bool running_low() const { return remaining() < uint64_t{2} * concurrency_; }

 private:
  const uint32_t requests_;
  const uint32_t concurrency_;
  uint32_t next_ = 0;
};

}  // namespace benchfleet
