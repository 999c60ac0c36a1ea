#include "coordinator/fleet_service.h"

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agent_id.h"
#include "common/build_info.h"
#include "common/grpc_status.h"
#include "common/log.h"
#include "coordinator/run/clock_offset.h"

namespace benchfleet {
namespace {

constexpr int kExchangesPerSample = 16;
constexpr absl::Duration kTick = absl::Milliseconds(500);

absl::Status CheckHello(const v1::Hello& hello) {
  if (!IsAgentId(hello.agent_id()) || !IsAgentId(hello.instance_id())) {
    return absl::InvalidArgumentError(
        "the agent's id must be 1 to 100 of letters, digits, '.', '_', '-'");
  }
  if (hello.protocol().major() != kProtocolMajor) {
    return absl::FailedPreconditionError(
        absl::StrCat("agent ", hello.agent_id(), " speaks protocol ",
                     hello.protocol().major(), ", the coordinator ",
                     kProtocolMajor, "; install the same release on both"));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::Status FleetServiceShell::Attach(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>*
        stream) {
  v1::AgentMessage first;
  if (!stream->Read(&first) || !first.has_hello()) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "the first message is Hello"};
  }
  const v1::Hello hello = first.hello();
  if (absl::Status bad = CheckHello(hello); !bad.ok()) return ToGrpc(bad);
  auto link = std::make_shared<AgentStream>(*context);
  if (absl::Status refused = pool_.Register(hello, link); !refused.ok()) {
    LogWarning("refused an agent from ", hello.host().hostname(), ": ",
               refused.message());
    return ToGrpc(refused);
  }
  LogInfo("agent ", hello.agent_id(), " attached from ",
          hello.host().hostname());
  Welcome(hello, *link);

  std::thread writer([&] { link->WriteLoop(*stream); });
  v1::AgentMessage message;
  while (stream->Read(&message)) {
    pool_.Heard(hello.agent_id());
    if (message.has_heartbeat()) {
      v1::CoordinatorMessage answer;
      answer.mutable_heartbeat();
      link->Send(answer);
    } else {
      events_.Push(AgentSaid{hello.agent_id(), std::move(message)});
    }
  }
  link->End();
  writer.join();
  pool_.Unregister(hello.agent_id(), hello.instance_id());
  {
    MutexLock lock(mutex_);
    const auto found = streams_.find(hello.agent_id());
    if (found != streams_.end() && found->second == link) streams_.erase(found);
  }
  LogInfo("agent ", hello.agent_id(), " is gone");
  return grpc::Status::OK;
}

void FleetServiceShell::Welcome(const v1::Hello& hello, AgentStream& link) {
  {
    MutexLock lock(mutex_);
    streams_[hello.agent_id()] =
        std::static_pointer_cast<AgentStream>(pool_.Link(hello.agent_id()));
  }
  v1::CoordinatorMessage message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_epoch(epoch_);
  welcome.set_lease_ns(
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(pool_.lease())));
  welcome.set_build_id(kBuildId);
  link.Send(message);
  AgentRow row;
  row.agent_id = hello.agent_id();
  row.instance_id = hello.instance_id();
  row.build_id = hello.build_id();
  row.host = hello.host();
  row.max_concurrency = hello.max_concurrency();
  row.weight = hello.weight();
  row.last_seen = clock_.WallNow();
  const absl::Status stored =
      ingest_.Call([&](RoundStore& store) { return store.UpsertAgent(row); });
  if (!stored.ok()) LogError(stored.message());
}

std::shared_ptr<AgentStream> FleetServiceShell::FindStream(
    const std::string& agent_id) const {
  MutexLock lock(mutex_);
  const auto found = streams_.find(agent_id);
  return found == streams_.end() ? nullptr : found->second;
}

grpc::Status FleetServiceShell::ProbeClock(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::ClockQuestion, v1::ClockAnswer>* stream) {
  v1::ClockAnswer answer;
  if (!stream->Read(&answer)) return grpc::Status::OK;
  const std::string agent_id = answer.agent_id();
  const std::shared_ptr<AgentStream> link = FindStream(agent_id);
  if (link == nullptr || !pool_.ClockReady(agent_id, answer.instance_id())) {
    return {grpc::StatusCode::NOT_FOUND, "attach first"};
  }
  uint64_t id = 0;
  while (!context->IsCancelled() && !link->ended()) {
    if (!link->WaitForProbe(kTick)) continue;
    std::vector<ClockExchange> exchanges;
    for (int i = 0; i < kExchangesPerSample; ++i) {
      v1::ClockQuestion question;
      question.set_id(++id);
      ClockExchange exchange;
      exchange.asked_ns = clock_.Now().ns;
      if (!stream->Write(question) || !stream->Read(&answer)) {
        return grpc::Status::OK;
      }
      exchange.heard_ns = clock_.Now().ns;
      exchange.received_ns = answer.received_ns();
      exchange.answered_ns = answer.answered_ns();
      if (answer.id() == id) exchanges.push_back(exchange);
    }
    if (const auto sample = BestSample(exchanges)) {
      events_.Push(ClockProbed{agent_id, *sample});
    }
  }
  return grpc::Status::OK;
}

grpc::Status FleetServiceShell::ReportTimings(
    grpc::ServerContext*,
    grpc::ServerReaderWriter<v1::BatchAck, v1::TimingBatch>* stream) {
  v1::TimingBatch batch;
  while (stream->Read(&batch)) {
    const absl::StatusOr<uint64_t> seq = ingest_.Get<uint64_t>(
        [&](RoundStore& store) { return store.AppendTimings(batch); });
    if (!seq.ok()) {
      LogError("timings of agent ", batch.agent_id(), ": ",
               seq.status().message());
      events_.Push(StoreBroke{batch.attempt().attempt_id(), seq.status()});
      return ToGrpc(seq.status());
    }
    v1::BatchAck ack;
    ack.set_seq(*seq);
    if (!stream->Write(ack)) break;
  }
  return grpc::Status::OK;
}

}  // namespace benchfleet
