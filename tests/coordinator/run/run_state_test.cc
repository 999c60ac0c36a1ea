#include "coordinator/run/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace benchfleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = AttemptEvent::Kind;

class RunStateTest : public ::testing::Test {
 protected:
  std::vector<AttemptAction> Feed(Kind kind, const std::string& agent = "",
                                  const std::string& message = "") {
    AttemptStep step =
        Advance(state_, {.kind = kind, .agent = agent, .message = message});
    state_ = std::move(step.state);
    return step.actions;
  }
  // From both agents; returns the actions of the second.
  std::vector<AttemptAction> FeedBoth(Kind kind) {
    EXPECT_THAT(Feed(kind, "a"), IsEmpty());
    return Feed(kind, "b");
  }
  void Reach(AttemptPhase phase) {
    const Kind order[] = {Kind::kPrepared, Kind::kProbed, Kind::kArmed,
                          Kind::kFinished};
    for (Kind kind : order) {
      if (state_.phase == phase) return;
      FeedBoth(kind);
    }
    ASSERT_EQ(state_.phase, phase);
  }

  AttemptState state_ = BeginAttemptState({"a", "b"}, false);
};

TEST_F(RunStateTest, AllWellGoesThroughEveryPhase) {
  EXPECT_THAT(FeedBoth(Kind::kPrepared),
              ElementsAre(AttemptAction::kProbeClocks));
  EXPECT_THAT(FeedBoth(Kind::kProbed), ElementsAre(AttemptAction::kArm));
  EXPECT_THAT(FeedBoth(Kind::kArmed), IsEmpty());
  EXPECT_EQ(state_.phase, AttemptPhase::kRunning);
  EXPECT_THAT(FeedBoth(Kind::kFinished),
              ElementsAre(AttemptAction::kProbeAgain));
  EXPECT_THAT(FeedBoth(Kind::kProbed), ElementsAre(AttemptAction::kFinish));
  EXPECT_EQ(state_.phase, AttemptPhase::kOver);
  EXPECT_EQ(state_.cause, StopCause::kNone);
}

TEST_F(RunStateTest, AShortShareMayFinishBeforeAnotherIsArmed) {
  Reach(AttemptPhase::kArming);
  Feed(Kind::kArmed, "a");
  Feed(Kind::kFinished, "a");
  EXPECT_THAT(Feed(Kind::kArmed, "b"), IsEmpty());
  EXPECT_THAT(Feed(Kind::kFinished, "b"),
              ElementsAre(AttemptAction::kProbeAgain));
}

TEST_F(RunStateTest, ALostAgentStopsTheOthersInEveryPhase) {
  for (AttemptPhase phase : {AttemptPhase::kPreparing, AttemptPhase::kProbing,
                             AttemptPhase::kArming, AttemptPhase::kRunning}) {
    state_ = BeginAttemptState({"a", "b"}, false);
    Reach(phase);
    EXPECT_THAT(Feed(Kind::kLost, "b"),
                ElementsAre(AttemptAction::kStopShares));
    EXPECT_EQ(state_.cause, StopCause::kAgentLost);
    EXPECT_THAT(state_.reason, HasSubstr("agent_lost: b"));
    EXPECT_THAT(Feed(Kind::kFinished, "a"),
                ElementsAre(AttemptAction::kFinish));
  }
}

TEST_F(RunStateTest, AnAgentLostAfterItsTimingsAreInHarmsNothing) {
  Reach(AttemptPhase::kClosing);
  EXPECT_THAT(Feed(Kind::kLost, "a"), IsEmpty());
  EXPECT_THAT(Feed(Kind::kProbed, "b"), ElementsAre(AttemptAction::kFinish));
  EXPECT_EQ(state_.cause, StopCause::kNone);
}

TEST_F(RunStateTest, AllAgentsLostEndsAtOnce) {
  Reach(AttemptPhase::kRunning);
  Feed(Kind::kLost, "a");
  EXPECT_THAT(Feed(Kind::kLost, "b"), ElementsAre(AttemptAction::kFinish));
  EXPECT_THAT(state_.reason, HasSubstr("a"));
}

TEST_F(RunStateTest, CancelIsHarmlessWhenRepeatedAndWinsRaces) {
  Reach(AttemptPhase::kRunning);
  EXPECT_THAT(Feed(Kind::kCancel), ElementsAre(AttemptAction::kStopShares));
  EXPECT_THAT(Feed(Kind::kCancel), IsEmpty());
  EXPECT_THAT(Feed(Kind::kLost, "a"), IsEmpty());
  EXPECT_EQ(state_.cause, StopCause::kCancelled);
  EXPECT_THAT(Feed(Kind::kFinished, "b"), ElementsAre(AttemptAction::kFinish));
  EXPECT_THAT(Feed(Kind::kCancel), IsEmpty());
}

TEST_F(RunStateTest, ARefusalNamesTheAgentAndItsReason) {
  AttemptStep step =
      Advance(state_, {.kind = Kind::kRefused,
                       .agent = "a",
                       .refusal = v1::ShareRefused::MODEL_NOT_SERVED,
                       .message = "no model m"});
  EXPECT_THAT(step.actions, ElementsAre(AttemptAction::kStopShares));
  EXPECT_EQ(step.state.cause, StopCause::kRefused);
  EXPECT_EQ(step.state.refusal, v1::ShareRefused::MODEL_NOT_SERVED);
  EXPECT_EQ(step.state.reason, "agent a: no model m");
}

TEST_F(RunStateTest, APhaseThatTakesTooLongIsStoppedAndThenLeft) {
  Reach(AttemptPhase::kArming);
  EXPECT_THAT(Feed(Kind::kPhaseTimedOut, "", "10s to get ready: b"),
              ElementsAre(AttemptAction::kStopShares));
  EXPECT_EQ(state_.cause, StopCause::kTooSlow);
  EXPECT_THAT(Feed(Kind::kPhaseTimedOut), ElementsAre(AttemptAction::kFinish));
}

TEST_F(RunStateTest, ACheckStopsOncePrepared) {
  state_ = BeginAttemptState({"a", "b"}, true);
  EXPECT_THAT(FeedBoth(Kind::kPrepared),
              ElementsAre(AttemptAction::kStopShares));
  EXPECT_THAT(FeedBoth(Kind::kFinished), ElementsAre(AttemptAction::kFinish));
  EXPECT_EQ(state_.cause, StopCause::kNone);
}

TEST_F(RunStateTest, EventsOfStrangersAndOfLateOnesChangeNothing) {
  EXPECT_THAT(Feed(Kind::kLost, "c"), IsEmpty());
  EXPECT_EQ(state_.phase, AttemptPhase::kPreparing);
  Feed(Kind::kLost, "a");
  EXPECT_THAT(Feed(Kind::kFinished, "a"), IsEmpty());
}

// Whatever comes in whatever order: one finish, and none after it.
TEST_F(RunStateTest, AnySequenceFinishesAtMostOnce) {
  const Kind kinds[] = {
      Kind::kPrepared, Kind::kProbed,      Kind::kArmed,
      Kind::kFinished, Kind::kRefused,     Kind::kLost,
      Kind::kCancel,   Kind::kStoreFailed, Kind::kPhaseTimedOut};
  uint64_t random = 1;
  for (int round = 0; round < 2000; ++round) {
    state_ = BeginAttemptState({"a", "b"}, round % 5 == 0);
    int finishes = 0;
    for (int i = 0; i < 60; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const size_t kind = (random >> 33) % std::size(kinds);
      // Ends are rarer than progress, so that runs get far.
      if (kind > 3 && (random >> 60) != 0) continue;
      for (AttemptAction action :
           Feed(kinds[kind], (random >> 50) % 2 == 0 ? "a" : "b")) {
        finishes += action == AttemptAction::kFinish;
      }
      EXPECT_EQ(finishes == 1, state_.phase == AttemptPhase::kOver);
    }
    EXPECT_LE(finishes, 1);
  }
}

}  // namespace
}  // namespace benchfleet
