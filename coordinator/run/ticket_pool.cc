#include "coordinator/run/ticket_pool.h"

#include <algorithm>

namespace benchfleet {

std::vector<uint32_t> TicketPool::Draw(uint32_t idle_slots, uint32_t want) {
  // What may be taken before the pool runs low; below, one per idle slot.
  const uint64_t low_water = uint64_t{2} * concurrency_;
  const uint64_t plenty = running_low() ? 0 : remaining() - low_water;
  const uint64_t lease = std::max<uint64_t>(std::min<uint64_t>(want, plenty),
                                            std::min(idle_slots, want));
  const uint64_t count = std::min<uint64_t>(lease, remaining());
  std::vector<uint32_t> ordinals;
  ordinals.reserve(count);
  for (uint64_t i = 0; i < count; ++i) ordinals.push_back(next_++);
  return ordinals;
}

}  // namespace benchfleet
