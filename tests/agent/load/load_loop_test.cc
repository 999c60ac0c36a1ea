#include "agent/load/load_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
