#include "agent/load/load_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace benchfleet {
namespace {

constexpr int kTokens = 4;

class LoadLoopTest : public ::testing::Test {
 protected:
  // Runs `requests` over `slots`; tickets come as the coordinator gives them.
  LoadResult Run(uint32_t requests, uint32_t slots,
                 FakeTransport::Script script) {
    LoadPlan plan;
    plan.share.set_concurrency(slots);
    plan.share.set_output_tokens(kTokens);
    plan.share.set_input_tokens(7);
    plan.share.set_include_usage(true);
    plan.url = "http://fake/v1/completions";
    plan.request_id_prefix = "bf-1-2-";
    plan.token_timeouts = token_timeouts_;
    plan.t0 = clock_.Now() + absl::Seconds(1);
    t0_ = plan.t0;
    left_ = requests;
    transport_ = std::make_unique<FakeTransport>(clock_, std::move(script));
    LoadLoop loop(plan, *transport_, clock_, inbox_, recorder_,
                  [&](uint32_t, uint32_t, uint32_t want) {
                    ++asks_;
                    Give(want);
                  });
    loop_ = &loop;
    Give(slots);
    const LoadResult result = loop.Run();
    while (!recorder_.drained()) {
      for (v1::RequestTiming& timing :
           recorder_.NextBatch(absl::ZeroDuration(), 1 << 20)) {
        timings_.push_back(std::move(timing));
      }
    }
    EXPECT_EQ(result.records, timings_.size());
    return result;
  }

  void Give(uint32_t want) {
    std::vector<ReadyRequest> ready;
    for (; want > 0 && left_ > 0; --want, --left_, ++next_) {
      ready.push_back({next_, absl::StrCat("body ", next_), next_});
    }
    inbox_.Add(std::move(ready), {.exhausted = left_ == 0});
  }

  static FakeTransport::Script Steady(absl::Duration ttft, absl::Duration itl) {
    return [=](const HttpRequest&) {
      return CompletionScript(ttft, itl, kTokens, 7);
    };
  }

  FakeClock clock_;
  TicketInbox inbox_;
  TimingRecorder recorder_{1'000'000};
  std::unique_ptr<FakeTransport> transport_;
  LoadLoop* loop_ = nullptr;
  std::vector<v1::RequestTiming> timings_;
  Instant t0_;
  uint32_t next_ = 0, left_ = 0;
  int asks_ = 0;
  TokenTimeouts token_timeouts_;
};

TEST_F(LoadLoopTest, EveryTicketIsSentOnceAndRecordedOnce) {
  Run(1000, 8, Steady(absl::Milliseconds(50), absl::Milliseconds(10)));
  std::set<uint32_t> ordinals;
  for (const auto& timing : timings_) {
    EXPECT_EQ(timing.outcome(), v1::COMPLETED) << timing.error();
    EXPECT_EQ(timing.body_hash(), timing.ordinal());
    ordinals.insert(timing.ordinal());
  }
  EXPECT_EQ(ordinals.size(), 1000u);
  EXPECT_EQ(transport_->sent().size(), 1000u);
  EXPECT_EQ(transport_->most_open(), 8u);
}

TEST_F(LoadLoopTest, NothingIsSentBeforeT0AndTheFirstExactlyThen) {
  const LoadResult result =
      Run(4, 2, Steady(absl::Milliseconds(50), absl::Milliseconds(10)));
  EXPECT_EQ(transport_->sent().front().at, t0_);
  EXPECT_EQ(result.first_sent, t0_);
}

// No drift and no rounding: an hour of load gives the script's figures.
TEST_F(LoadLoopTest, ASimulatedHourIsExact) {
  const absl::Duration ttft = absl::Milliseconds(127) + absl::Nanoseconds(1);
  const absl::Duration itl = absl::Microseconds(6843) + absl::Nanoseconds(3);
  const Instant began = clock_.Now();
  Run(90'000, 4, Steady(ttft, itl));
  EXPECT_GT(clock_.Now() - began, absl::Minutes(55));
  for (const auto& timing : timings_) {
    ASSERT_EQ(timing.token_delta_ns_size(), kTokens);
    ASSERT_EQ(timing.token_delta_ns(0),
              static_cast<uint64_t>(absl::ToInt64Nanoseconds(ttft)));
    for (int i = 1; i < kTokens; ++i) {
      ASSERT_EQ(timing.token_delta_ns(i),
                static_cast<uint64_t>(absl::ToInt64Nanoseconds(itl)));
    }
    ASSERT_EQ(timing.slot_turnaround_ns(), 0u);
  }
}

TEST_F(LoadLoopTest, SlotsAreBusyUntilTheTicketsRunOut) {
  Run(40, 4, Steady(absl::Milliseconds(50), absl::Milliseconds(10)));
  int64_t busy_ns = 0, last_ns = 0;
  for (const auto& timing : timings_) {
    busy_ns += timing.end_ns() - timing.sent_ns();
    last_ns = std::max(last_ns, timing.end_ns());
  }
  EXPECT_EQ(busy_ns, 4 * (last_ns - t0_.ns));
}

TEST_F(LoadLoopTest, StopCutsWhatIsOpenAndRecordsEveryTicket) {
  int started = 0;
  Run(100, 4, [&](const HttpRequest&) {
    if (++started == 6) loop_->Stop();
    return CompletionScript(absl::Seconds(1), absl::Seconds(1), kTokens, 7);
  });
  EXPECT_EQ(transport_->open(), 0u);
  std::set<uint32_t> ordinals;
  int cancelled = 0;
  for (const auto& timing : timings_) {
    ordinals.insert(timing.ordinal());
    cancelled += timing.outcome() == v1::CANCELLED;
  }
  EXPECT_EQ(ordinals.size(), timings_.size());
  EXPECT_EQ(timings_.size(), next_);  // all that were given
  EXPECT_GE(cancelled, 4);
}

TEST_F(LoadLoopTest, ARequestThatCannotStartIsAFailureNotAnEnd) {
  Run(10, 2,
      [n = 0](const HttpRequest&) mutable
      -> absl::StatusOr<std::vector<ScriptedEvent>> {
        if (++n % 2 == 0) return absl::UnavailableError("no route");
        return CompletionScript(absl::Milliseconds(1), absl::Milliseconds(1),
                                kTokens, 7);
      });
  EXPECT_EQ(timings_.size(), 10u);
  for (const auto& timing : timings_) {
    EXPECT_TRUE(timing.outcome() == v1::COMPLETED ||
                timing.outcome() == v1::CONNECT);
  }
}

TEST_F(LoadLoopTest, AServerThatKeepsTheBodyOpenAfterDoneLosesItsConnection) {
  Run(2, 1, [](const HttpRequest&) {
    auto script = CompletionScript(absl::Milliseconds(10),
                                   absl::Milliseconds(10), kTokens, 7);
    script.pop_back();  // no end
    return script;
  });
  for (const auto& timing : timings_) {
    EXPECT_EQ(timing.outcome(), v1::COMPLETED);
    EXPECT_EQ(timing.done_ns() - timing.sent_ns(), 40'000'000);
  }
  EXPECT_EQ(transport_->open(), 0u);
}

// Pings, a role chunk and the prompt's progress keep coming; a token does not.
TEST_F(LoadLoopTest, BytesWithoutATokenDoNotPutTheFirstTokenOff) {
  token_timeouts_ = {.first = absl::Milliseconds(700),
                     .between = absl::Milliseconds(50)};
  Run(3, 2, [](const HttpRequest&) {
    std::vector<ScriptedEvent> events = {
        ScriptedEvent::Head(absl::Milliseconds(1))};
    for (int i = 1; i < 100; ++i) {
      events.push_back(ScriptedEvent::Bytes(
          absl::Milliseconds(30) * i,
          i % 2 == 0 ? ": ping\n\n"
                     : "data: {\"choices\":[],\"prompt_progress\":{}}\n\n"));
    }
    return events;
  });
  ASSERT_EQ(timings_.size(), 3u);
  for (const auto& timing : timings_) {
    EXPECT_EQ(timing.outcome(), v1::TIMEOUT);
    EXPECT_EQ(timing.end_ns() - timing.sent_ns(), 700'000'000);
    EXPECT_THAT(timing.error(),
                ::testing::HasSubstr("timeout of the first token: none within "
                                     "700ms from http://fake/v1/completions"));
  }
}

TEST_F(LoadLoopTest, ATokenPutsTheNextOffAndTheLastTheEnd) {
  token_timeouts_ = {.first = absl::Seconds(5),
                     .between = absl::Milliseconds(40)};
  Run(2, 1, [n = 0](const HttpRequest&) mutable {
    auto script =
        CompletionScript(absl::Seconds(4), absl::Milliseconds(39), kTokens, 7);
    if (++n == 2) {  // no usage, no [DONE], no end; pings instead
      script.resize(script.size() - 2);
      for (int i = 0; i < 20; ++i) {
        script.push_back(ScriptedEvent::Bytes(
            absl::Seconds(4) + absl::Milliseconds(39 * 3 + 10 * i), ":\n\n"));
      }
    }
    return script;
  });
  ASSERT_EQ(timings_.size(), 2u);
  EXPECT_EQ(timings_[0].outcome(), v1::COMPLETED) << timings_[0].error();
  EXPECT_EQ(timings_[1].outcome(), v1::TIMEOUT);
  EXPECT_EQ(timings_[1].end_ns() - timings_[1].sent_ns(),
            4'000'000'000 + 3 * 39'000'000 + 40'000'000);
  EXPECT_THAT(timings_[1].error(),
              ::testing::HasSubstr("timeout between tokens: none for 40ms"));
}

TEST_F(LoadLoopTest, AStallWithoutAnAnswerIsATimeoutAndTheSlotGoesOn) {
  token_timeouts_.first = absl::Milliseconds(90);
  Run(6, 2, [n = 0](const HttpRequest&) mutable -> std::vector<ScriptedEvent> {
    if (++n % 2 == 0) return {};
    return CompletionScript(absl::Milliseconds(80), absl::ZeroDuration(),
                            kTokens, 7);
  });
  std::map<v1::Outcome, int> outcomes;
  for (const auto& timing : timings_) ++outcomes[timing.outcome()];
  EXPECT_THAT(outcomes,
              ::testing::ElementsAre(::testing::Pair(v1::COMPLETED, 3),
                                     ::testing::Pair(v1::TIMEOUT, 3)));
}

TEST_F(LoadLoopTest, AnErrorBodyThatNeverEndsIsCutAndKeepsItsStatus) {
  Run(2, 1, [](const HttpRequest&) {
    std::vector<ScriptedEvent> events = {
        ScriptedEvent::Head(absl::Milliseconds(1), 503, "text/plain")};
    for (int i = 0; i < 1000; ++i) {
      events.push_back(
          ScriptedEvent::Bytes(absl::Milliseconds(1 + 100 * i), "busy "));
    }
    return events;
  });
  ASSERT_EQ(timings_.size(), 2u);
  for (const auto& timing : timings_) {
    EXPECT_EQ(timing.outcome(), v1::HTTP_STATUS);
    EXPECT_THAT(timing.error(), ::testing::HasSubstr("HTTP 503"));
    EXPECT_LT(timing.end_ns() - timing.sent_ns(), 1'100'000'000);
  }
}

TEST_F(LoadLoopTest, RequestIdsNameTheOrdinal) {
  std::set<std::string> ids;
  Run(3, 1, [&](const HttpRequest& request) {
    ids.insert(request.headers->back());
    return CompletionScript(absl::Milliseconds(1), absl::Milliseconds(1),
                            kTokens, 7);
  });
  EXPECT_THAT(ids, ::testing::ElementsAre("x-request-id: bf-1-2-0",
                                          "x-request-id: bf-1-2-1",
                                          "x-request-id: bf-1-2-2"));
}

}  // namespace
}  // namespace benchfleet
