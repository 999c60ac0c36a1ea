#include "agent/batch_sender.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/channel.h"

namespace benchfleet {
namespace {

// Each call is `play`; calls are numbered from 0.
class Coordinator final : public v1::FleetService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::BatchAck, v1::TimingBatch>;
  using Play = std::function<grpc::Status(Stream&, int call)>;

  explicit Coordinator(Play play) : play_(std::move(play)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Coordinator() override { server_->Shutdown(); }

  grpc::Status ReportTimings(grpc::ServerContext*, Stream* stream) override {
    return play_(*stream, calls++);
  }
  std::shared_ptr<grpc::Channel> Dial() const {
    return DialCoordinator(absl::StrCat("127.0.0.1:", port_));
  }

  std::atomic<int> calls{0};

 private:
  const Play play_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

class BatchSenderTest : public ::testing::Test {
 protected:
  void Record(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      v1::RequestTiming timing;
      timing.set_ordinal(i);
      timing.set_error(std::string(100'000, 'x'));
      recorder_.Record(std::move(timing));
    }
    recorder_.Close();
  }
  TimingRecorder recorder_{1000};
};

TEST_F(BatchSenderTest, WhatTheCoordinatorRefusesForGoodIsNotSentAgain) {
  Coordinator coordinator([](Coordinator::Stream& stream, int) {
    v1::TimingBatch batch;
    stream.Read(&batch);
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "no space left");
  });
  Record(100);  // so that it is still writing when the answer comes
  BatchSender sender(coordinator.Dial(), {}, recorder_);
  const absl::Status status = sender.Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(status.message(), "no space left");
  EXPECT_EQ(coordinator.calls, 1);
}

TEST_F(BatchSenderTest,
       ABrokenCallIsMadeAgainFromTheFirstBatchNotAcknowledged) {
  std::set<uint64_t> seqs;
  uint32_t timings = 0;
  Coordinator coordinator([&](Coordinator::Stream& stream, int call) {
    v1::TimingBatch batch;
    while (stream.Read(&batch)) {
      if (call < 2 && batch.seq() == static_cast<uint64_t>(call + 2)) {
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
      }
      if (seqs.insert(batch.seq()).second) {
        timings += static_cast<uint32_t>(batch.timings_size());
      }
      v1::BatchAck ack;
      ack.set_seq(batch.seq());
      stream.Write(ack);
    }
    return grpc::Status::OK;
  });
  Record(60);
  BatchSender sender(coordinator.Dial(), {}, recorder_);
  EXPECT_TRUE(sender.Run().ok());
  EXPECT_EQ(coordinator.calls, 3);
  EXPECT_EQ(timings, 60u);
  EXPECT_EQ(seqs.size(), sender.last_seq());
  EXPECT_EQ(*seqs.rbegin(), sender.last_seq());
}

}  // namespace
}  // namespace benchfleet
