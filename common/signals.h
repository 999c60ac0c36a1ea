// Signals as events on a thread, not as interrupts.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace benchfleet {

// Blocks the signals in this thread and in all started later, so make it
// before any other thread. One at a time per process.
class SignalWaiter {
 public:
  explicit SignalWaiter(std::initializer_list<int> signals);
  // Restores the signal mask of this thread.
  ~SignalWaiter();

  // Calls `action` with each signal that comes, on a thread of its own, until
  // StopCalling. Once.
  void OnSignal(std::function<void(int)> action);
  // After it no call runs or begins; signals that still come do nothing.
  void StopCalling();

 private:
  sigset_t set_;
  sigset_t old_;
  std::thread thread_;
};

}  // namespace benchfleet
