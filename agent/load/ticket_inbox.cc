#include "agent/load/ticket_inbox.h"

#include <iterator>
#include <utility>

namespace benchfleet {

void TicketInbox::Add(std::vector<ReadyRequest> requests, Supply supply) {
  MutexLock lock(mutex_);
  requests_.insert(requests_.end(), std::make_move_iterator(requests.begin()),
                   std::make_move_iterator(requests.end()));
  supply_.exhausted = supply_.exhausted || supply.exhausted;
  supply_.running_low = supply_.running_low || supply.running_low;
  news_.store(true, std::memory_order_release);
}

TicketInbox::Supply TicketInbox::Take(std::vector<ReadyRequest>& requests) {
  MutexLock lock(mutex_);
  requests.insert(requests.end(), std::make_move_iterator(requests_.begin()),
                  std::make_move_iterator(requests_.end()));
  requests_.clear();
  news_.store(false, std::memory_order_release);
  return supply_;
}

}  // namespace benchfleet
