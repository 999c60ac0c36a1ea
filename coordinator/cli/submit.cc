#include "coordinator/cli/submit.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/address.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/status_macros.h"
#include "coordinator/cli/control_client.h"
#include "coordinator/cli/embedded_fleet.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/follow.h"
#include "coordinator/cli/suite_file.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

struct SubmitFlags {
  std::string suite_path;
  std::string coordinator;
  std::string db = "results.db";
  uint64_t local_agents = 2;
  uint64_t min_agents = 1;
  absl::Duration agent_wait = absl::Seconds(60);
  bool detach = false;
  bool help = false;
};

absl::StatusOr<SubmitFlags> ParseSubmitFlags(int argc, char* const* argv) {
  SubmitFlags flags;
  FlagSet set("coordinator submit SUITE.pb.txt [flags]",
              "Runs a suite, shows its progress and prints the report. Without "
              "--coordinator it brings its own coordinator and agents.\n"
              "Exit codes: 0 PASS, 1 FAIL, 2 bad suite or usage, 3 could not "
              "run or reach, 130 interrupted.");
  set.String("coordinator", &flags.coordinator,
             "HOST:PORT of a running coordinator "
             "(default $BENCHFLEET_COORDINATOR; empty: an own one)");
  set.String("db", &flags.db, "database file of an own coordinator");
  set.Uint("local-agents", &flags.local_agents,
           "agents that an own coordinator starts", 64);
  set.Uint("min-agents", &flags.min_agents,
           "agents to wait for before the run starts", 100'000);
  set.Duration("agent-wait", &flags.agent_wait, "how long to wait for agents");
  set.Bool("detach", &flags.detach,
           "return once the run is queued; needs --coordinator");
  ASSIGN_OR_RETURN(const std::vector<std::string> rest, set.Parse(argc, argv));
  if (set.help_asked()) {
    std::fputs(set.Help().c_str(), stdout);
    flags.help = true;
    return flags;
  }
  if (rest.size() != 1) {
    return absl::InvalidArgumentError("name one suite file; see --help");
  }
  flags.suite_path = rest[0];
  const char* address = std::getenv("BENCHFLEET_COORDINATOR");
  if (flags.coordinator.empty() && address != nullptr) {
    flags.coordinator = address;
  }
  if (flags.coordinator.empty() && flags.detach) {
    return absl::InvalidArgumentError(
        "--detach needs --coordinator: an own coordinator ends with submit");
  }
  if (!flags.coordinator.empty()) {
    RETURN_IF_ERROR(CheckAddress("--coordinator", flags.coordinator));
  }
  if (flags.local_agents == 0) {
    return absl::InvalidArgumentError("--local-agents must be at least 1");
  }
  return flags;
}

void PrintQueued(const v1::SubmitSuiteResponse& response) {
  std::fprintf(stderr, "run %lld: %u rounds, %llu requests, seed %llu%s\n",
               static_cast<long long>(response.run_id()), response.rounds(),
               static_cast<unsigned long long>(response.requests()),
               static_cast<unsigned long long>(response.seed()),
               response.seed_was_drawn() ? " (drawn)" : "");
}

// First signal: cancel and wait for the end. Second: leave at once; children
// and the coordinator's run end by themselves.
class CancelOnSignal {
 public:
  CancelOnSignal(SignalWaiter& signals, ControlClient& client, int64_t run_id)
      : signals_(signals) {
    signals_.OnSignal([this, &client, run_id](int) {
      if (heard_.exchange(true)) _exit(kExitInterrupted);
      std::fprintf(stderr, "\ncancelling run %lld\n",
                   static_cast<long long>(run_id));
      const absl::Status cancelled = client.Cancel(run_id);
      if (!cancelled.ok()) FailVerb("cancel", cancelled);
    });
  }
  ~CancelOnSignal() { signals_.StopCalling(); }
  bool heard() const { return heard_; }

 private:
  SignalWaiter& signals_;
  std::atomic<bool> heard_{false};
};

int SubmitAndFollow(const SubmitFlags& flags, const std::string& suite_text,
                    const std::string& address, uint32_t min_agents,
                    SignalWaiter& signals, const Clock& clock) {
  ControlClient client(address);
  v1::SubmitSuiteRequest request;
  request.set_suite_text(suite_text);
  request.set_file_name(flags.suite_path);
  request.set_agent_wait_ns(
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(flags.agent_wait)));
  request.set_min_agents(min_agents);
  const auto response = client.Submit(request);
  if (!response.ok()) return FailVerb("submit", response.status());
  if (!response->problems().empty()) {
    std::fputs(response->problems().c_str(), stderr);
    return kExitUsage;
  }
  PrintQueued(*response);
  if (flags.detach) {
    std::printf("%lld\n", static_cast<long long>(response->run_id()));
    return kExitPass;
  }
  const CancelOnSignal cancel(signals, client, response->run_id());
  const int code = FollowRun(client, response->run_id(), clock);
  return cancel.heard() ? kExitInterrupted : code;
}

int SubmitEmbedded(const SubmitFlags& flags, const std::string& suite_text,
                   SignalWaiter& signals, const Clock& clock) {
  const auto agents = static_cast<uint32_t>(flags.local_agents);
  auto fleet = EmbeddedFleet::Start(flags.db, agents, clock);
  if (!fleet.ok()) {
    return absl::IsInvalidArgument(fleet.status())
               ? FailVerb("submit", fleet.status())
               : FailVerb("submit", fleet.status(), kExitCouldNotRun);
  }
  const int code = SubmitAndFollow(flags, suite_text, (*fleet)->address(),
                                   agents, signals, clock);
  fleet->reset();
  std::fprintf(stderr, "results: %s\n", flags.db.c_str());
  return code;
}

}  // namespace

int RunSubmit(int argc, char* const* argv) {
  const absl::StatusOr<SubmitFlags> flags = ParseSubmitFlags(argc, argv);
  if (!flags.ok()) return FailVerb("submit", flags.status());
  if (flags->help) return kExitPass;
  const absl::StatusOr<std::string> text = ReadSuiteFile(flags->suite_path);
  if (!text.ok()) return FailVerb("submit", text.status(), kExitUsage);
  // Before any database is made.
  const ParsedSuite parsed = ParseSuite(*text);
  if (!parsed.problems.empty()) {
    std::fputs(FormatProblems(flags->suite_path, parsed.problems).c_str(),
               stderr);
    return kExitUsage;
  }
  // Whoever read our output may go; the run and its end do not depend on it.
  std::signal(SIGPIPE, SIG_IGN);
  SignalWaiter signals({SIGINT, SIGTERM});
  const RealClock clock;
  SetUpLog("coordinator", "error");
  if (flags->coordinator.empty()) {
    return SubmitEmbedded(*flags, *text, signals, clock);
  }
  return SubmitAndFollow(*flags, *text, flags->coordinator,
                         static_cast<uint32_t>(flags->min_agents), signals,
                         clock);
}

}  // namespace benchfleet
