#include "coordinator/cli/serve.h"

#include <csignal>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/address.h"
#include "common/build_info.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/log.h"
#include "common/signals.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/coordinator.h"

namespace benchfleet {

int RunServe(int argc, char* const* argv) {
  CoordinatorOptions options;
  options.listen = "127.0.0.1:7070";
  options.db_path = "results.db";
  std::string log_level = "info";
  FlagSet flags("coordinator serve --listen=HOST:PORT --db=FILE [flags]",
                "Runs the coordinator daemon until SIGTERM. Runs that an "
                "earlier life left unfinished go on.");
  flags.String("listen", &options.listen, "address to serve; port 0: any");
  flags.String("db", &options.db_path, "database file, made if missing");
  flags.Duration("lease", &options.lease,
                 "an agent that is silent for longer is lost",
                 absl::Seconds(3));
  flags.String("log-level", &log_level, "debug, info, warn, error or off");
  const auto rest = flags.Parse(argc, argv);
  if (!rest.ok()) return FailVerb("serve", rest.status());
  if (flags.help_asked()) {
    std::fputs(flags.Help().c_str(), stdout);
    return kExitPass;
  }
  absl::Status usage = CheckAddress("--listen", options.listen, true);
  usage.Update(CheckLogLevel(log_level));
  if (!rest->empty()) {
    usage.Update(absl::InvalidArgumentError(
        absl::StrCat("unexpected argument ", rest->front())));
  }
  if (!usage.ok()) return FailVerb("serve", usage);
  SetUpLog("coordinator", log_level);
  BoundedQueue<int> stop(1);
  SignalWaiter signals({SIGINT, SIGTERM});
  const RealClock clock;
  auto coordinator = Coordinator::Start(options, clock);
  if (!coordinator.ok()) {
    return FailVerb("serve", coordinator.status(), kExitCouldNotRun);
  }
  // Scripts that asked for port 0 read this line.
  std::printf("listening on %s\n", (*coordinator)->address().c_str());
  std::fflush(stdout);
  LogInfo("benchfleet ", kVersion, " (", kBuildId, ") listens on ",
          (*coordinator)->address(), ", database ", options.db_path);
  signals.OnSignal([&](int) { stop.Close(); });
  while (!stop.WaitClosed(absl::Seconds(3600))) {
  }
  LogInfo("stopping");
  return kExitPass;
}

}  // namespace benchfleet
