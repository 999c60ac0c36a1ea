#include "agent/share_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "common/bounded_queue.h"
#include "tests/support/tcp_server.h"

namespace benchfleet {
namespace {

// A share whose engine and coordinator are out of reach.
class ShareRunnerTest : public ::testing::Test {
 protected:
  ShareRunnerTest() {
    prepare_.mutable_attempt()->set_epoch(1);
    prepare_.mutable_attempt()->set_attempt_id(7);
    v1::ShareSpec& share = *prepare_.mutable_share();
    share.mutable_engine()->set_name("e");
    share.mutable_engine()->set_base_url("http://127.0.0.1:9");
    share.mutable_engine()->set_model("m");
    share.set_concurrency(1);
    share.set_input_tokens(1);
    share.set_output_tokens(1);
  }

  void Start() {
    owner_ = std::make_unique<ShareRunner>(
        ShareRunner::Options{"127.0.0.1:9", "a", "i"}, prepare_, clock_,
        [this](v1::AgentMessage message) {
          if (ask_back) runner_.load()->Progress();
          said_.TryPush(std::move(message));
        });
    runner_ = owner_.get();
  }
  std::optional<v1::AgentMessage> Said() {
    return said_.Pop(absl::Seconds(20));
  }

  RealClock clock_;
  v1::Prepare prepare_;
  std::atomic<bool> ask_back{false};
  BoundedQueue<v1::AgentMessage> said_{100};
  std::atomic<ShareRunner*> runner_{nullptr};
  std::unique_ptr<ShareRunner> owner_;
};

TEST_F(ShareRunnerTest, StoppedBeforeItsStartItFinishesWithoutARecord) {
  Start();
  auto message = Said();
  ASSERT_TRUE(message && message->has_prepared());
  runner_.load()->Stop();
  message = Said();
  ASSERT_TRUE(message && message->has_finished());
  EXPECT_EQ(message->finished().manifest().records(), 0u);
}

// The session calls in while it holds the lock that the callback takes: with a
// lock held here the two would wait for each other for ever.
TEST_F(ShareRunnerTest, SaysNothingWithItsLockHeld) {
  Start();
  ASSERT_TRUE(Said());
  ask_back = true;
  runner_.load()->Arm(clock_.Now() + absl::Milliseconds(50));
  runner_.load()->Stop();
  v1::AgentMessage last;
  while (auto message = Said()) {
    last = *std::move(message);
    if (last.has_finished() || last.has_refused()) break;
  }
  EXPECT_TRUE(last.has_finished() || last.has_refused());
}

TEST_F(ShareRunnerTest, AnEngineThatHangsDoesNotHoldUpAStop) {
  BoundedQueue<int> asked(10);
  TcpServer engine([&](int fd, int number) {
    asked.TryPush(std::move(number));
    TcpServer::ReadToEnd(fd);
  });
  prepare_.mutable_share()->mutable_engine()->set_base_url(engine.url());
  prepare_.mutable_share()->set_check_model(true);
  Start();
  ASSERT_TRUE(asked.Pop(absl::Seconds(20)));
  const Instant began = clock_.Now();
  runner_.load()->Stop();
  const auto message = Said();
  ASSERT_TRUE(message && message->has_finished());
  EXPECT_LT(clock_.Now() - began, absl::Seconds(4));
}

}  // namespace
}  // namespace benchfleet
