#include "common/signals.h"

#include <pthread.h>

#include <ctime>
#include <utility>

namespace benchfleet {
namespace {

// Ends the waiting thread; nobody else sends it.
constexpr int kWake = SIGUSR2;

}  // namespace

SignalWaiter::SignalWaiter(std::initializer_list<int> signals) {
  sigemptyset(&set_);
  for (int signal : signals) sigaddset(&set_, signal);
  sigaddset(&set_, kWake);
  pthread_sigmask(SIG_BLOCK, &set_, &old_);
}

SignalWaiter::~SignalWaiter() {
  StopCalling();
  // Else one that still came would end the process at the next line.
  const timespec at_once{};
  while (sigtimedwait(&set_, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &old_, nullptr);
}

void SignalWaiter::StopCalling() {
  if (!thread_.joinable()) return;
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void SignalWaiter::OnSignal(std::function<void(int)> action) {
  thread_ = std::thread([this, action = std::move(action)] {
    int signal = 0;
    while (sigwait(&set_, &signal) == 0 && signal != kWake) action(signal);
  });
}

}  // namespace benchfleet
