#include "agent/clock_answerer.h"

#include <utility>

#include "common/channel.h"

namespace benchfleet {

ClockAnswerer::ClockAnswerer(const std::string& coordinator,
                             std::string agent_id, std::string instance_id,
                             const Clock& clock)
    : agent_id_(std::move(agent_id)),
      instance_id_(std::move(instance_id)),
      clock_(clock),
      channel_(DialCoordinator(coordinator)),
      thread_([this] { Run(); }) {}

ClockAnswerer::~ClockAnswerer() {
  context_.TryCancel();
  thread_.join();
}

void ClockAnswerer::Run() {
  auto stub = v1::FleetService::NewStub(channel_);
  auto call = stub->ProbeClock(&context_);
  v1::ClockAnswer answer;
  answer.set_agent_id(agent_id_);
  answer.set_instance_id(instance_id_);
  if (!call->Write(answer)) {
    call->Finish();
    return;
  }
  v1::ClockQuestion question;
  while (call->Read(&question)) {
    answer.set_received_ns(clock_.Now().ns);
    answer.set_id(question.id());
    answer.set_answered_ns(clock_.Now().ns);
    if (!call->Write(answer)) break;
  }
  call->Finish();
}

}  // namespace benchfleet
