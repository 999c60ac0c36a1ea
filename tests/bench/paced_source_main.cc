// bench_source: see paced_source.h. Prints "listening on HOST:PORT"; SIGTERM
// or SIGINT ends it, then it prints what it did as one JSON line.
#include <signal.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>

#include "common/clock.h"
#include "common/flags.h"
#include "tests/bench/cpu_account.h"
#include "tests/bench/paced_source.h"

namespace benchfleet::bench {
namespace {

void WriteTruth(const std::string& path, const std::deque<Truth>& truth) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return std::perror(path.c_str());
  for (const Truth& t : truth) {
    std::fprintf(file, "{\"id\":\"%s\",\"arrival_ns\":%lld,\"token_ns\":[",
                 t.id.c_str(), static_cast<long long>(t.arrival.ns));
    for (size_t i = 0; i < t.tokens.size(); ++i) {
      std::fprintf(file, "%s%lld", i == 0 ? "" : ",",
                   static_cast<long long>(t.tokens[i].ns));
    }
    std::fputs("]}\n", file);
  }
  std::fclose(file);
}

int Main(int argc, char** argv) {
  SourceOptions options;
  options.ttft = options.interval = absl::Milliseconds(20);
  std::string truth;
  FlagSet flags("bench_source [flags]", "Streams completions at exact times.");
  flags.Duration("ttft", &options.ttft, "from a request to its first token");
  flags.Duration("interval", &options.interval,
                 "between tokens; 0 with --ttft=0: as fast as it can");
  flags.Uint("burst", &options.burst, "tokens per write if unpaced");
  flags.Bool("spread", &options.spread, "spread the streams' phases");
  flags.Bool("lockstep", &options.lockstep, "all streams write together");
  flags.String("truth", &truth, "file for what was really done");
  const auto arguments = flags.Parse(argc, argv);
  if (flags.help_asked()) return std::puts(flags.Help().c_str()), 0;
  if (!arguments.ok() || !arguments->empty()) {
    std::fputs("bench_source: bad arguments, see --help\n", stderr);
    return 2;
  }
  options.keep_truth = !truth.empty();
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const RealClock clock;
  auto source = PacedSource::Create(options, clock);
  if (!source.ok()) {
    std::fprintf(stderr, "bench_source: %s\n",
                 source.status().ToString().c_str());
    return 1;
  }
  std::printf("listening on 127.0.0.1:%u\n", unsigned{(*source)->port()});
  std::fflush(stdout);
  (*source)->Run();
  std::printf("{\"tokens\":%llu,\"cpu_s\":%.6f}\n",
              static_cast<unsigned long long>((*source)->tokens_sent()),
              ProcessCpuSeconds());
  if (options.keep_truth) WriteTruth(truth, (*source)->truth());
  return 0;
}

}  // namespace
}  // namespace benchfleet::bench

int main(int argc, char** argv) { return benchfleet::bench::Main(argc, argv); }
