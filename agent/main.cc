// The agent: flags, wiring, run.
#include <csignal>
#include <cstdio>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/host_facts.h"
#include "agent/session.h"
#include "common/address.h"
#include "common/agent_id.h"
#include "common/build_info.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/log.h"
#include "common/parent_death.h"
#include "common/random.h"
#include "common/signals.h"
#include "common/std_streams.h"

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
  HoldStandardStreams();
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
  } else if (const absl::Status bad =
                 CheckAddress("--coordinator", flags.coordinator);
             !bad.ok()) {
    problem = std::string(bad.message());
  } else if (const absl::Status level = CheckLogLevel(flags.log_level);
             !level.ok()) {
    problem = std::string(level.message());
  } else if (flags.weight == 0) {
    problem = "--weight must be at least 1";
  }
  if (!problem.empty()) {
    std::fprintf(stderr, "agent: %s\n", problem.c_str());
    return 2;
  }
  SetUpLog("agent", flags.log_level);
  v1::Hello hello = MakeHello(flags);
  if (!IsAgentId(hello.agent_id())) {
    std::fprintf(stderr,
                 "agent: %s \"%s\": an id is 1 to 100 of letters, digits, "
                 "'.', '_' and '-'\n",
                 flags.name.empty() ? "the host name cannot be the id; give "
                                      "--name:"
                                    : "--name",
                 absl::CHexEscape(hello.agent_id().substr(0, 200)).c_str());
    return 2;
  }
  if (flags.exit_with_parent != 0 &&
      !DieWithParent(static_cast<pid_t>(flags.exit_with_parent))) {
    return 0;
  }

  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is an outcome
  SignalWaiter signals({SIGINT, SIGTERM});
  RealClock clock;
  Session session({flags.coordinator, std::move(hello)}, clock);
  signals.OnSignal([&](int) { session.Stop(); });
  session.Run();
  signals.StopCalling();
  return 0;
}

}  // namespace
}  // namespace benchfleet

int main(int argc, char** argv) { return benchfleet::Main(argc, argv); }
