#include "coordinator/run/agent_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace benchfleet {
namespace {

using ::testing::HasSubstr;

class Link final : public AgentLink {
 public:
  void Send(const v1::CoordinatorMessage&) override {}
  void ProbeClock() override {}
  void Close() override { ++closed; }
  int closed = 0;
};

class AgentPoolTest : public ::testing::Test {
 protected:
  v1::Hello Hello(const std::string& instance) {
    v1::Hello hello;
    hello.set_agent_id("a");
    hello.set_instance_id(instance);
    hello.mutable_host()->set_hostname("host1");
    return hello;
  }

  RealClock clock_;
  FleetEvents events_{10};
  AgentPool pool_{clock_, absl::Seconds(10), events_};
  std::shared_ptr<Link> first_ = std::make_shared<Link>();
  std::shared_ptr<Link> second_ = std::make_shared<Link>();
};

TEST_F(AgentPoolTest, AnotherAgentOfTheSameIdIsRefusedAndHarmsNothing) {
  ASSERT_TRUE(pool_.Register(Hello("one"), first_).ok());
  const absl::Status refused = pool_.Register(Hello("two"), second_);
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("host1"));
  EXPECT_EQ(first_->closed, 0);
  pool_.Unregister("a", "two");
  EXPECT_EQ(pool_.Link("a"), first_);
}

// After a cut network the agent is back before the coordinator knows.
TEST_F(AgentPoolTest, AnAgentThatComesBackClosesItsOwnOldStream) {
  ASSERT_TRUE(pool_.Register(Hello("one"), first_).ok());
  EXPECT_EQ(pool_.Register(Hello("one"), second_).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(first_->closed, 1);
  pool_.Unregister("a", "one");  // what the closed stream's call does
  EXPECT_TRUE(pool_.Register(Hello("one"), second_).ok());
  EXPECT_EQ(pool_.Link("a"), second_);
}

TEST_F(AgentPoolTest, OnlyAgentsWhoseClockCanBeProbedAreUsed) {
  ASSERT_TRUE(pool_.Register(Hello("one"), first_).ok());
  EXPECT_TRUE(pool_.Agents().empty());
  EXPECT_FALSE(pool_.ClockReady("a", "two"));
  EXPECT_TRUE(pool_.ClockReady("a", "one"));
  EXPECT_EQ(pool_.Agents().size(), 1u);
}

}  // namespace
}  // namespace benchfleet
