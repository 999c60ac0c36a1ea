#include "agent/clock_answerer.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/bounded_queue.h"

namespace benchfleet {
namespace {

// Ends the first call at once, and asks one question in each later one.
class BreakingService final : public v1::FleetService::Service {
 public:
  grpc::Status ProbeClock(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::ClockQuestion, v1::ClockAnswer>* stream)
      override {
    v1::ClockAnswer answer;
    if (!stream->Read(&answer)) return grpc::Status::OK;
    if (first_.exchange(false)) {
      return {grpc::StatusCode::NOT_FOUND, "attach first"};
    }
    v1::ClockQuestion question;
    question.set_id(42);
    stream->Write(question);
    if (stream->Read(&answer)) answers.TryPush(v1::ClockAnswer(answer));
    stream->Read(&answer);  // until the client goes
    return grpc::Status::OK;
  }

  BoundedQueue<v1::ClockAnswer> answers{10};

 private:
  std::atomic<bool> first_{true};
};

TEST(ClockAnswererTest, CallsAnewWhenItsCallBreaks) {
  BreakingService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  RealClock clock;
  {
    ClockAnswerer answerer(absl::StrCat("127.0.0.1:", port), "a", "i", clock);
    const auto answer = service.answers.Pop(absl::Seconds(30));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->id(), 42u);
    EXPECT_EQ(answer->agent_id(), "a");
    EXPECT_GE(answer->answered_ns(), answer->received_ns());
  }
  server->Shutdown();
}

}  // namespace
}  // namespace benchfleet
