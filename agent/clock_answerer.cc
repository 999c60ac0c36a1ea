#include "agent/clock_answerer.h"

#include <utility>

#include "common/channel.h"

namespace benchfleet {
namespace {

constexpr absl::Duration kRetryWait = absl::Seconds(1);

}  // namespace

ClockAnswerer::ClockAnswerer(const std::string& coordinator,
                             std::string agent_id, std::string instance_id,
                             const Clock& clock)
    : agent_id_(std::move(agent_id)),
      instance_id_(std::move(instance_id)),
      clock_(clock),
      channel_(DialCoordinator(coordinator)),
      thread_([this] { Run(); }) {}

ClockAnswerer::~ClockAnswerer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
    changed_.NotifyAll();
  }
  thread_.join();
}

void ClockAnswerer::Run() {
  while (true) {
    grpc::ClientContext context;
    {
      MutexLock lock(mutex_);
      if (stopping_) return;
      context_ = &context;
    }
    AnswerOneCall(context);
    MutexLock lock(mutex_);
    context_ = nullptr;
    if (!stopping_) changed_.WaitFor(mutex_, kRetryWait);
  }
}

void ClockAnswerer::AnswerOneCall(grpc::ClientContext& context) {
  auto stub = v1::FleetService::NewStub(channel_);
  auto call = stub->ProbeClock(&context);
  v1::ClockAnswer answer;
  answer.set_agent_id(agent_id_);
  answer.set_instance_id(instance_id_);
  bool open = call->Write(answer);
  v1::ClockQuestion question;
  while (open && call->Read(&question)) {
    answer.set_received_ns(clock_.Now().ns);
    answer.set_id(question.id());
    answer.set_answered_ns(clock_.Now().ns);
    open = call->Write(answer);
  }
  call->Finish();
}

}  // namespace benchfleet
