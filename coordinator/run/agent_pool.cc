#include "coordinator/run/agent_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace benchfleet {

absl::Status AgentPool::Register(const v1::Hello& hello,
                                 std::shared_ptr<AgentLink> link) {
  PooledAgent other;
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(hello.agent_id());
    if (found == entries_.end()) {
      entries_[hello.agent_id()] = {.agent = {hello, std::move(link)},
                                    .heard = clock_.Now()};
      return absl::OkStatus();
    }
    other = found->second.agent;
  }
  if (other.hello.instance_id() == hello.instance_id()) {
    other.link->Close();  // the network broke it, and only one end knows
    return absl::UnavailableError(absl::StrCat("the earlier stream of agent \"",
                                               hello.agent_id(),
                                               "\" is being closed"));
  }
  return absl::AlreadyExistsError(absl::StrCat(
      "an agent with id \"", hello.agent_id(), "\" is connected from host ",
      other.hello.host().hostname(), "; give each agent its own --name"));
}

void AgentPool::Unregister(const std::string& agent_id,
                           const std::string& instance_id) {
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(agent_id);
    if (found == entries_.end() ||
        found->second.agent.hello.instance_id() != instance_id) {
      return;
    }
    entries_.erase(found);
  }
  events_.Push(AgentLost{agent_id});
}

bool AgentPool::ClockReady(const std::string& agent_id,
                           const std::string& instance_id) {
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(agent_id);
    if (found == entries_.end() ||
        found->second.agent.hello.instance_id() != instance_id) {
      return false;
    }
    found->second.clock_ready = true;
  }
  events_.Push(AgentJoined{agent_id});
  return true;
}

void AgentPool::Heard(const std::string& agent_id) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(agent_id);
  if (found != entries_.end()) found->second.heard = clock_.Now();
}

void AgentPool::CloseLapsed() {
  std::vector<std::shared_ptr<AgentLink>> lapsed;
  {
    MutexLock lock(mutex_);
    const Instant now = clock_.Now();
    for (const auto& [id, entry] : entries_) {
      if (now - entry.heard > lease_) lapsed.push_back(entry.agent.link);
    }
  }
  for (const auto& link : lapsed) link->Close();
}

std::map<std::string, PooledAgent> AgentPool::Agents() const {
  MutexLock lock(mutex_);
  std::map<std::string, PooledAgent> agents;
  for (const auto& [id, entry] : entries_) {
    if (entry.clock_ready) agents[id] = entry.agent;
  }
  return agents;
}

std::shared_ptr<AgentLink> AgentPool::Link(const std::string& agent_id) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(agent_id);
  return found == entries_.end() ? nullptr : found->second.agent.link;
}

}  // namespace benchfleet
