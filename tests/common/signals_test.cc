#include "common/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "common/bounded_queue.h"

namespace benchfleet {
namespace {

TEST(SignalWaiterTest, CallsUntilItIsToldToStop) {
  std::atomic<int> calls{0};
  {
    BoundedQueue<int> heard(8);
    SignalWaiter signals({SIGUSR1});
    signals.OnSignal([&](int signal) {
      ++calls;
      heard.TryPush(std::move(signal));
    });
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(heard.Pop(absl::Seconds(10)), SIGUSR1);
    signals.StopCalling();
    kill(getpid(), SIGUSR1);  // pending, and harmless to the end
  }
  EXPECT_EQ(calls, 1);
}

TEST(SignalWaiterTest, StopsWithoutEverHavingBeenAskedToCall) {
  SignalWaiter signals({SIGUSR1});
  signals.StopCalling();
  signals.StopCalling();
}

}  // namespace
}  // namespace benchfleet
