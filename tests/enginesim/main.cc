// enginesim: a simulated inference server. Flags, wiring, run, exit code.
#include <signal.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/flags.h"
#include "common/status_macros.h"
#include "tests/enginesim/server.h"

namespace benchfleet::enginesim {
namespace {

struct Flags {
  std::string listen = "127.0.0.1";
  uint64_t port = 0;
  std::string flavour = "vllm";
  std::string profile;
  std::string time_scale = "1";
  std::string model = "sim";
  uint64_t context_window = 0;
  uint64_t max_running_requests = 0;
  std::string truth;
  uint64_t seed = 1;
  uint64_t fail_every = 0;
  std::string fail_kind = "http500";
  std::string refuse_models;
  std::string refuse_all;
  uint64_t exit_after_requests = 0;
};

void Register(FlagSet& set, Flags& flags) {
  set.String("listen", &flags.listen, "IPv4 address");
  set.Uint("port", &flags.port, "0 takes a free one and prints it", 65535);
  set.String("flavour", &flags.flavour, "vllm, sglang or llamacpp");
  set.String("profile", &flags.profile, "file of times; none: a fast engine");
  set.String("time-scale", &flags.time_scale,
             "how many times faster than the profile says");
  set.String("model", &flags.model, "the one model served");
  set.Uint("context-window", &flags.context_window,
           "tokens; 0: as the profile says", UINT32_MAX);
  set.Uint("max-running-requests", &flags.max_running_requests,
           "0: as the profile says", 65536);
  set.String("truth", &flags.truth, "file for what was really done");
  set.Uint("seed", &flags.seed, "of lengths and jitter");
  set.Uint("fail-every", &flags.fail_every,
           "every Nth generation fails; 0: none");
  set.String("fail-kind", &flags.fail_kind,
             "http500, http404, html, stream_error, reset or stall");
  set.String("refuse-models", &flags.refuse_models,
             "/v1/models answers 404, 500 or html");
  set.String("refuse-all", &flags.refuse_all,
             "every path answers 404, 500 or html");
  set.Uint("exit-after-requests", &flags.exit_after_requests,
           "die after that many generations; 0: never");
}

absl::StatusOr<ServiceOptions> ToOptions(const Flags& flags) {
  ServiceOptions options;
  ASSIGN_OR_RETURN(options.flavour, ParseFlavour(flags.flavour));
  if (!flags.profile.empty()) {
    ASSIGN_OR_RETURN(options.profile, ReadProfile(flags.profile));
  }
  if (!absl::SimpleAtod(flags.time_scale, &options.time_scale) ||
      !(options.time_scale >= 1e-3 && options.time_scale <= 1e6))
    return absl::InvalidArgumentError(absl::StrCat(
        "--time-scale=", flags.time_scale, ": want 0.001 to 1000000"));
  ASSIGN_OR_RETURN(options.fail_kind, ParseFault(flags.fail_kind));
  ASSIGN_OR_RETURN(options.refuse_models, ParseFault(flags.refuse_models));
  ASSIGN_OR_RETURN(options.refuse_all, ParseFault(flags.refuse_all));
  options.model = flags.model;
  options.seed = flags.seed;
  options.fail_every = flags.fail_every;
  options.exit_after_requests = flags.exit_after_requests;
  Profile& profile = options.profile;
  if (flags.context_window != 0)
    profile.context_window = static_cast<uint32_t>(flags.context_window);
  if (flags.max_running_requests != 0)
    profile.max_running_requests =
        static_cast<uint32_t>(flags.max_running_requests);
  // A step must have room for a token of every running request.
  profile.chunk_tokens =
      std::max(profile.chunk_tokens, profile.max_running_requests);
  return options;
}

// Streams need descriptors: take all that are allowed.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

absl::Status Run(const Flags& flags) {
  ASSIGN_OR_RETURN(ServiceOptions options, ToOptions(flags));
  TruthLog truth;
  if (!flags.truth.empty()) RETURN_IF_ERROR(truth.Open(flags.truth));
  RaiseDescriptorLimit();
  BlockSignals();
  RealClock clock;
  ASSIGN_OR_RETURN(
      std::unique_ptr<Server> server,
      Server::Create(flags.listen, static_cast<uint16_t>(flags.port), clock));
  EngineService service(std::move(options), clock, truth, *server);
  std::printf("listening on %s:%u\n", flags.listen.c_str(),
              unsigned{server->port()});
  std::fflush(stdout);
  return server->Run(service);
}

int Main(int argc, char** argv) {
  Flags flags;
  FlagSet set("enginesim [flags]", "Simulates an LLM inference server.");
  Register(set, flags);
  const auto arguments = set.Parse(argc, argv);
  if (set.help_asked()) return std::puts(set.Help().c_str()), 0;
  absl::Status status = arguments.status();
  if (status.ok() && !arguments->empty())
    status = absl::InvalidArgumentError(
        absl::StrCat("unexpected argument ", arguments->front()));
  if (status.ok()) status = Run(flags);
  if (status.ok()) return 0;
  std::fprintf(stderr, "enginesim: %s\n",
               std::string(status.message()).c_str());
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace
}  // namespace benchfleet::enginesim

int main(int argc, char** argv) {
  return benchfleet::enginesim::Main(argc, argv);
}
