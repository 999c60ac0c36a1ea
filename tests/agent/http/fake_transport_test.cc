#include "tests/support/fake_transport.h"

#include <gtest/gtest.h>

#include "agent/http/fetch.h"
#include "agent/http/response_reader.h"

namespace benchfleet {
namespace {

FakeTransport::Script Always(std::vector<ScriptedEvent> events) {
  return [events](const HttpRequest&) { return events; };
}

TEST(FakeTransportTest, TimeJumpsToEventsAndToTheLimit) {
  FakeClock clock;
  FakeTransport transport(
      clock, Always(CompletionScript(absl::Milliseconds(100),
                                     absl::Milliseconds(10), 3, 4)));
  const Instant start = clock.Now();
  Asked asked;
  asked.output_tokens = 3;
  ResponseReader reader(asked);
  reader.set_sent(start);
  ASSERT_TRUE(transport.Start(HttpRequest(), &reader).ok());
  transport.Poll(start + absl::Milliseconds(50));
  EXPECT_EQ(clock.Now() - start, absl::Milliseconds(50));
  transport.Poll(start + absl::Seconds(9));
  EXPECT_EQ(clock.Now() - start, absl::Milliseconds(100));
  EXPECT_EQ(reader.content_chunks(), 1u);
  while (!reader.done()) transport.Poll(start + absl::Seconds(9));
  EXPECT_EQ(clock.Now() - start, absl::Milliseconds(120));
  EXPECT_TRUE(reader.completed());
  EXPECT_EQ(transport.open(), 0u);
  transport.Poll(start + absl::Hours(1));
  EXPECT_EQ(clock.Now() - start, absl::Hours(1));
}

TEST(FakeTransportTest, WakeReturnsAtOnceAndOnlyOnce) {
  FakeClock clock;
  FakeTransport transport(clock, Always({}));
  const Instant start = clock.Now();
  transport.Wake();
  transport.Poll(start + absl::Seconds(1));
  EXPECT_EQ(clock.Now(), start);
  transport.Poll(start + absl::Seconds(1));
  EXPECT_EQ(clock.Now(), start + absl::Seconds(1));
}

TEST(FakeTransportTest, PollOfThePastDeliversWhatIsDueAndMovesNothing) {
  FakeClock clock;
  FakeTransport transport(clock,
                          Always({ScriptedEvent::Head(absl::ZeroDuration()),
                                  ScriptedEvent::End(absl::Seconds(1))}));
  ResponseReader reader;
  ASSERT_TRUE(transport.Start(HttpRequest(), &reader).ok());
  const Instant start = clock.Now();
  transport.Poll({0});
  EXPECT_EQ(clock.Now(), start);
  EXPECT_FALSE(reader.done());
}

TEST(FakeTransportTest, CancelEndsAnExchangeOnce) {
  FakeClock clock;
  FakeTransport transport(clock, Always({}));
  ResponseReader reader;
  const auto id = transport.Start(HttpRequest(), &reader);
  transport.Cancel(*id);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.outcome(), v1::CANCELLED);
  transport.Cancel(*id);
}

TEST(FakeTransportTest, FetchCollectsAnAnswer) {
  FakeClock clock;
  FakeTransport transport(
      clock, Always({ScriptedEvent::Head(absl::Seconds(5), 404, "text/plain"),
                     ScriptedEvent::Bytes(absl::Seconds(6), "ab"),
                     ScriptedEvent::Bytes(absl::Seconds(7), "c"),
                     ScriptedEvent::End(absl::Seconds(8))}));
  const FetchResult result = Fetch(transport, clock, HttpRequest());
  EXPECT_EQ(result.status, 404);
  EXPECT_EQ(result.content_type, "text/plain");
  EXPECT_EQ(result.body, "abc");
  EXPECT_EQ(WarmConnections(transport, clock, HttpRequest(), 7), 7u);
  EXPECT_EQ(transport.most_open(), 7u);
}

TEST(FakeTransportTest, FetchReportsThatNothingWasSent) {
  FakeClock clock;
  FakeTransport transport(
      clock,
      [](const HttpRequest&) -> absl::StatusOr<std::vector<ScriptedEvent>> {
        return absl::InvalidArgumentError("bad header");
      });
  const FetchResult result = Fetch(transport, clock, HttpRequest());
  EXPECT_EQ(result.end.kind, TransportEnd::Kind::kOther);
  EXPECT_EQ(result.end.message, "bad header");
}

}  // namespace
}  // namespace benchfleet
