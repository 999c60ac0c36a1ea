// An attempt against agents that are scripted in memory.
#include "coordinator/run/attempt_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace benchfleet {
namespace {

using ::testing::HasSubstr;

// Answers each command at once, as a good agent would; `twist` may answer
// instead (returns true).
class ScriptedAgent final : public AgentLink {
 public:
  ScriptedAgent(std::string id, FleetEvents& events, const Clock& clock)
      : id_(std::move(id)), events_(events), clock_(clock) {}

  void Send(const v1::CoordinatorMessage& message) override {
    if (twist && twist(message)) return;
    if (message.has_prepare()) {
      attempt_ = message.prepare().attempt();
      slots = message.prepare().share().concurrency();
      Take(message.prepare().tickets());
      v1::AgentMessage answer;
      *answer.mutable_prepared()->mutable_attempt() = attempt_;
      Say(answer);
    } else if (message.has_arm()) {
      v1::AgentMessage answer;
      *answer.mutable_armed()->mutable_attempt() = attempt_;
      Say(answer);
      Ask();
    } else if (message.has_tickets()) {
      Take(message.tickets());
      if (exhausted_) {
        Finish();
      } else {
        Ask();
      }
    } else if (message.has_stop()) {
      stop_reason = message.stop().reason();
      Finish();
    }
  }
  void ProbeClock() override {
    ++probes;
    events_.Push(
        ClockProbed{id_, {.offset_ns = 0, .bound_ns = clock_bound_ns}});
  }
  void Close() override {}

  void Say(const v1::AgentMessage& message) {
    events_.Push(AgentSaid{id_, message});
  }
  // The pool no longer has it, and says so.
  void Lose(AgentPool& pool) { pool.Unregister(id_, id_); }

  std::function<bool(const v1::CoordinatorMessage&)> twist;
  std::vector<uint32_t> ordinals;
  uint32_t slots = 0;
  int probes = 0;
  int64_t clock_bound_ns = 100;
  std::string stop_reason;

 private:
  void Take(const v1::Tickets& tickets) {
    ordinals.insert(ordinals.end(), tickets.ordinals().begin(),
                    tickets.ordinals().end());
    exhausted_ = tickets.exhausted();
  }
  void Ask() {
    v1::AgentMessage message;
    *message.mutable_ticket_request()->mutable_attempt() = attempt_;
    message.mutable_ticket_request()->set_idle_slots(slots);
    message.mutable_ticket_request()->set_want(2 * slots);
    Say(message);
  }
  void Finish() {
    v1::AgentMessage message;
    *message.mutable_finished()->mutable_attempt() = attempt_;
    message.mutable_finished()->mutable_manifest()->set_records(
        ordinals.size());
    message.mutable_finished()->set_first_sent_ns(clock_.Now().ns);
    Say(message);
  }

  const std::string id_;
  FleetEvents& events_;
  const Clock& clock_;
  v1::AttemptRef attempt_;
  bool exhausted_ = false;
};

class AttemptRunnerTest : public ::testing::Test {
 protected:
  AttemptRunnerTest() {
    order_.attempt.set_epoch(3);
    order_.attempt.set_attempt_id(7);
    order_.requests = 50;
    order_.concurrency = {1, 2};
    order_.share.set_concurrency(3);
    for (const char* id : {"a", "b"}) {
      auto agent = std::make_shared<ScriptedAgent>(id, events_, clock_);
      v1::Hello hello;
      hello.set_agent_id(id);
      hello.set_instance_id(id);
      EXPECT_TRUE(pool_.Register(hello, agent).ok());
      order_.agents.push_back({hello, agent});
      agents_.push_back(agent);
    }
  }

  AttemptEnd Run() {
    AttemptRunner runner(
        order_, pool_, events_, clock_, [this] { return cancelled_; },
        [](const AttemptProgress&) {});
    return runner.Run();
  }

  RealClock clock_;
  FleetEvents events_{1000};
  AgentPool pool_{clock_, absl::Seconds(10), events_};
  AttemptOrder order_;
  std::vector<std::shared_ptr<ScriptedAgent>> agents_;
  bool cancelled_ = false;
};

TEST_F(AttemptRunnerTest, EveryRequestIsGivenToOneAgent) {
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, StopCause::kNone) << end.reason;
  std::vector<uint32_t> all = agents_[0]->ordinals;
  all.insert(all.end(), agents_[1]->ordinals.begin(),
             agents_[1]->ordinals.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 50u);
  for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(all[i], i);
  EXPECT_EQ(end.shares[0].manifest.records() + end.shares[1].manifest.records(),
            50u);
}

TEST_F(AttemptRunnerTest, ClocksAreProbedBeforeAndAfter) {
  Run();
  EXPECT_EQ(agents_[0]->probes, 2);
}

TEST_F(AttemptRunnerTest, ALostAgentAbortsTheAttemptOnTheOther) {
  agents_[1]->twist = [this](const v1::CoordinatorMessage& message) {
    if (!message.has_arm()) return false;
    agents_[1]->Lose(pool_);
    return true;
  };
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, StopCause::kAgentLost);
  EXPECT_EQ(end.reason, "agent_lost: b");
  EXPECT_THAT(agents_[0]->stop_reason, HasSubstr("agent_lost: b"));
}

TEST_F(AttemptRunnerTest, AnAgentThatIsGoneAtTheStartIsLost) {
  pool_.Unregister("b", "b");
  EXPECT_EQ(Run().cause, StopCause::kAgentLost);
}

TEST_F(AttemptRunnerTest, ALossBeforeTheAgentCameBackIsOld) {
  events_.Push(AgentLost{"b"});  // of the stream before the one in the pool
  EXPECT_EQ(Run().cause, StopCause::kNone);
}

TEST_F(AttemptRunnerTest, AnAgentThatCameBackMeanwhileIsLost) {
  agents_[1]->twist = [this](const v1::CoordinatorMessage& message) {
    if (!message.has_arm()) return false;
    agents_[1]->Lose(pool_);
    v1::Hello hello;
    hello.set_agent_id("b");
    hello.set_instance_id("b");
    EXPECT_TRUE(pool_
                    .Register(hello, std::make_shared<ScriptedAgent>(
                                         "b", events_, clock_))
                    .ok());
    return true;
  };
  EXPECT_EQ(Run().cause, StopCause::kAgentLost);
}

TEST_F(AttemptRunnerTest, AReasonInBadUtf8IsMadeReadable) {
  agents_[0]->twist = [this](const v1::CoordinatorMessage& message) {
    if (!message.has_prepare()) return false;
    v1::AgentMessage refused;
    *refused.mutable_refused()->mutable_attempt() = message.prepare().attempt();
    refused.mutable_refused()->set_message("caf\xe9 is closed");
    agents_[0]->Say(refused);
    return true;
  };
  // As a proto3 string the byte would break the stream to other agents.
  EXPECT_EQ(Run().reason, "agent a: caf\\xe9 is closed");
}

TEST_F(AttemptRunnerTest, TheStartLeavesTimeForTheSlowestAgent) {
  agents_[1]->clock_bound_ns = 300'000'000;
  int64_t t0_ns = 0;
  const int64_t before = clock_.Now().ns;
  agents_[0]->twist = [&](const v1::CoordinatorMessage& message) {
    if (message.has_arm()) t0_ns = message.arm().t0_ns();
    return false;
  };
  Run();
  EXPECT_GT(t0_ns - before, 1'200'000'000);
}

TEST_F(AttemptRunnerTest, ARefusalEndsItWithTheReason) {
  agents_[0]->twist = [this](const v1::CoordinatorMessage& message) {
    if (!message.has_prepare()) return false;
    v1::AgentMessage refused;
    *refused.mutable_refused()->mutable_attempt() = message.prepare().attempt();
    refused.mutable_refused()->set_reason(v1::ShareRefused::ENGINE_UNREACHABLE);
    refused.mutable_refused()->set_message("connection refused");
    agents_[0]->Say(refused);
    return true;
  };
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, StopCause::kRefused);
  EXPECT_EQ(end.refusal, v1::ShareRefused::ENGINE_UNREACHABLE);
  EXPECT_EQ(end.reason, "agent a: connection refused");
}

TEST_F(AttemptRunnerTest, CancelStopsEveryShare) {
  agents_[0]->twist = [this](const v1::CoordinatorMessage& message) {
    cancelled_ = cancelled_ || message.has_arm();
    return false;
  };
  EXPECT_EQ(Run().cause, StopCause::kCancelled);
  EXPECT_EQ(agents_[0]->stop_reason, "cancelled");
}

TEST_F(AttemptRunnerTest, MessagesOfAnotherAttemptAreIgnored) {
  v1::AgentMessage stale;
  stale.mutable_refused()->mutable_attempt()->set_epoch(2);
  stale.mutable_refused()->mutable_attempt()->set_attempt_id(7);
  agents_[0]->Say(stale);
  EXPECT_EQ(Run().cause, StopCause::kNone);
}

TEST_F(AttemptRunnerTest, ACheckOnlyPrepares) {
  order_.check_only = true;
  order_.requests = 0;
  EXPECT_EQ(Run().cause, StopCause::kNone);
  EXPECT_EQ(agents_[0]->stop_reason, "check is over");
  EXPECT_EQ(agents_[0]->probes, 0);
}

TEST_F(AttemptRunnerTest, AStoreThatFailsEndsTheAttempt) {
  agents_[0]->twist = [this](const v1::CoordinatorMessage& message) {
    if (message.has_arm()) {
      events_.Push(StoreBroke{7, absl::ResourceExhaustedError("no space")});
    }
    return false;
  };
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, StopCause::kStoreFailed);
  EXPECT_EQ(end.reason, "no space");
}

}  // namespace
}  // namespace benchfleet
