// The agent: flags, wiring, run.
#include <csignal>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/host_facts.h"
#include "agent/session.h"
#include "common/build_info.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/log.h"
#include "common/parent_death.h"
#include "common/random.h"
#include "common/signals.h"

namespace benchfleet {
namespace {

struct AgentFlags {
  std::string coordinator;
  std::string name;
  uint64_t max_concurrency = 0;
  uint64_t weight = 1;
  uint64_t exit_with_parent = 0;
  std::string log_level = "info";
};

v1::Hello MakeHello(const AgentFlags& flags) {
  v1::Hello hello;
  *hello.mutable_host() = ReadHostFacts();
  hello.set_agent_id(flags.name.empty() ? hello.host().hostname() : flags.name);
  hello.set_instance_id(absl::StrFormat("%016x", RandomSeedFromSystem()));
  hello.mutable_protocol()->set_major(kProtocolMajor);
  hello.mutable_protocol()->set_minor(kProtocolMinor);
  hello.set_build_id(kBuildId);
  hello.set_max_concurrency(static_cast<uint32_t>(flags.max_concurrency));
  hello.set_weight(static_cast<uint32_t>(flags.weight));
  return hello;
}

int Main(int argc, char** argv) {
  AgentFlags flags;
  FlagSet set("agent --coordinator=HOST:PORT [flags]",
              "Load agent of benchfleet: attaches to a coordinator and runs "
              "its shares of the load.");
  set.String("coordinator", &flags.coordinator,
             "HOST:PORT of the coordinator; required");
  set.String("name", &flags.name,
             "id of this agent, stable over restarts; default: the host name");
  set.Uint("max-concurrency", &flags.max_concurrency,
           "most requests in flight here; 0: no limit", 1'000'000);
  set.Uint("weight", &flags.weight, "share of the load relative to others",
           1'000'000);
  set.Uint("exit-with-parent", &flags.exit_with_parent,
           "process id of the parent; end when it ends; 0: do not", INT32_MAX);
  set.String("log-level", &flags.log_level, "debug, info, warn, error or off");
  auto rest = set.Parse(argc, argv);
  if (set.help_asked()) {
    std::fputs(set.Help().c_str(), stdout);
    return 0;
  }
  std::string problem;
  if (!rest.ok()) {
    problem = std::string(rest.status().message());
  } else if (!rest->empty()) {
    problem = absl::StrCat("unexpected argument ", rest->front());
  } else if (flags.coordinator.empty()) {
    problem = "--coordinator=HOST:PORT is required";
  } else if (flags.weight == 0) {
    problem = "--weight must be at least 1";
  }
  if (!problem.empty()) {
    std::fprintf(stderr, "agent: %s\n", problem.c_str());
    return 2;
  }
  SetUpLog("agent", flags.log_level);
  if (flags.exit_with_parent != 0 &&
      !DieWithParent(static_cast<pid_t>(flags.exit_with_parent))) {
    return 0;
  }

  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is an outcome
  SignalWaiter signals({SIGINT, SIGTERM});
  RealClock clock;
  Session session({flags.coordinator, MakeHello(flags)}, clock);
  signals.OnSignal([&](int) { session.Stop(); });
  session.Run();
  return 0;
}

}  // namespace
}  // namespace benchfleet

int main(int argc, char** argv) { return benchfleet::Main(argc, argv); }
