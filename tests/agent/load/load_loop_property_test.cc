// Random servers: whatever they send, every request ends in exactly one
// record, and the loop ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "agent/load/load_loop.h"
#include "common/random.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace benchfleet {
namespace {

using Kind = TransportEnd::Kind;

// What servers send, whole or cut.
constexpr const char* kPieces[] = {
    "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"text\":\"b\",\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n",
    ("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,"
     "\"completion_tokens\":4,\"total_tokens\":11}}\n\n"),
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n",
    "data: [DONE]\n\n",
    ": ping\n\n",
    "data: {\"error\":{\"message\":\"died\"}}\n\n",
    "event: error\ndata: overloaded\n\n",
    "<html>busy</html>",
    "{\"choices\":[{\"text\":\"whole\"}]}",
    "data: {\"choices\":[{\"te",
    "\n\n",
    "\r",
    "\xEF\xBB\xBF",
    "\x1f\x8b\x08",
};
constexpr int kStatuses[] = {200, 200, 200, 200, 204, 302, 400, 429, 503};
constexpr Kind kEnds[] = {Kind::kOk,      Kind::kOk,      Kind::kReset,
                          Kind::kPartial, Kind::kConnect, Kind::kTls,
                          Kind::kTimeout, Kind::kOther};

template <typename T, size_t n>
const T& OneOf(const T (&all)[n], Random& random) {
  return all[random.Below(n)];
}

std::vector<ScriptedEvent> RandomAnswer(Random& random) {
  std::vector<ScriptedEvent> events;
  absl::Duration at = absl::Milliseconds(random.Below(60));
  if (random.Below(8) != 0) {
    events.push_back(ScriptedEvent::Head(at, OneOf(kStatuses, random),
                                         "text/event-stream",
                                         random.Below(20) == 0 ? "gzip" : ""));
    for (uint64_t n = random.Below(12); n > 0; --n) {
      if (random.Below(2) == 0) at += absl::Milliseconds(random.Below(40));
      events.push_back(ScriptedEvent::Bytes(at, OneOf(kPieces, random)));
    }
  }
  if (random.Below(4) != 0) {  // else it hangs
    at += absl::Milliseconds(random.Below(30));
    events.push_back(
        ScriptedEvent::End(at, OneOf(kEnds, random), "the transport's words"));
  }
  return events;
}

class RandomLoad {
 public:
  explicit RandomLoad(uint64_t seed)
      : random_(seed),
        slots_(1 + static_cast<uint32_t>(random_.Below(8))),
        requests_(1 + static_cast<uint32_t>(random_.Below(60))),
        // Beyond the last request in half of the loads.
        stop_at_(random_.Below(2 * requests_)) {}

  void Run() {
    LoadPlan plan;
    plan.share.set_concurrency(slots_);
    plan.share.set_output_tokens(4);
    plan.share.set_input_tokens(7);
    plan.share.set_include_usage(true);
    plan.url = "http://fake/v1/completions";
    plan.token_timeouts = {
        .first = absl::Milliseconds(1 + random_.Below(100)),
        .between = absl::Milliseconds(1 + random_.Below(50))};
    plan.t0 = clock_.Now() + absl::Milliseconds(random_.Below(100));
    longest_ = plan.token_timeouts.first + 12 * plan.token_timeouts.between +
               absl::Milliseconds(1100);  // of lingering
    LoadLoop* running = nullptr;
    FakeTransport transport(
        clock_,
        [&](const HttpRequest&) -> absl::StatusOr<std::vector<ScriptedEvent>> {
          if (started_++ == stop_at_) running->Stop();
          if (random_.Below(20) == 0) return absl::UnavailableError("no");
          return RandomAnswer(random_);
        });
    LoadLoop loop(plan, transport, clock_, inbox_, recorder_,
                  [&](uint32_t, uint32_t, uint32_t want) { Give(want); });
    running = &loop;
    Give(slots_);
    const LoadResult result = loop.Run();
    EXPECT_EQ(transport.open(), 0u);
    EXPECT_EQ(loop.counters().in_flight.load(), 0u);
    Check(result, stop_at_ < started_, plan.t0);
  }

 private:
  void Give(uint32_t want) {
    std::vector<ReadyRequest> ready;
    for (; want > 0 && given_ < requests_; --want, ++given_) {
      ready.push_back({given_, "body", given_});
    }
    inbox_.Add(std::move(ready), {.exhausted = given_ == requests_,
                                  .running_low = random_.Below(2) == 0});
  }

  void Check(const LoadResult& result, bool stopped, Instant t0) {
    std::set<uint32_t> ordinals;
    uint64_t records = 0;
    while (!recorder_.drained()) {
      for (const v1::RequestTiming& timing :
           recorder_.NextBatch(absl::ZeroDuration(), 1 << 20)) {
        ++records;
        EXPECT_TRUE(ordinals.insert(timing.ordinal()).second);
        CheckOne(timing, stopped, t0);
      }
    }
    EXPECT_EQ(records, result.records);
    EXPECT_EQ(ordinals.size(), given_);  // each that was taken, once
    if (!stopped) {
      EXPECT_EQ(given_, requests_);
    }
  }

  void CheckOne(const v1::RequestTiming& timing, bool stopped, Instant t0) {
    EXPECT_NE(timing.outcome(), v1::OUTCOME_UNSPECIFIED);
    EXPECT_TRUE(stopped || timing.outcome() != v1::CANCELLED);
    EXPECT_EQ(timing.outcome() == v1::COMPLETED, timing.error().empty());
    if (timing.sent_ns() == 0) {  // stopped before
      EXPECT_EQ(timing.outcome(), v1::CANCELLED);
      return;
    }
    EXPECT_LE(t0.ns, timing.scheduled_ns());
    EXPECT_LE(timing.scheduled_ns(), timing.sent_ns());
    EXPECT_LE(timing.sent_ns(), timing.end_ns());
    EXPECT_LE(timing.end_ns() - timing.sent_ns(),
              absl::ToInt64Nanoseconds(longest_));
    EXPECT_LE(timing.first_byte_ns(), timing.last_byte_ns());
    int64_t last = timing.sent_ns();
    for (uint64_t delta : timing.token_delta_ns()) {
      last += static_cast<int64_t>(delta);
    }
    EXPECT_LE(last, std::max(timing.sent_ns(), timing.last_byte_ns()));
    if (timing.outcome() == v1::COMPLETED) {
      EXPECT_EQ(timing.http_status(), 200u);
      EXPECT_GT(timing.token_delta_ns_size(), 0);
    }
  }

  Random random_;
  const uint32_t slots_, requests_;
  const uint64_t stop_at_;
  FakeClock clock_;
  TicketInbox inbox_;
  TimingRecorder recorder_{1000};
  absl::Duration longest_;
  uint32_t given_ = 0;
  uint64_t started_ = 0;
};

TEST(LoadLoopPropertyTest, EveryRequestEndsInExactlyOneRecordAndTheLoopEnds) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomLoad(seed).Run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace benchfleet
