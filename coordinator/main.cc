// The coordinator: one verb per call.
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/build_info.h"
#include "common/std_streams.h"
#include "coordinator/cli/check.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/export_raw.h"
#include "coordinator/cli/fleet_verbs.h"
#include "coordinator/cli/import.h"
#include "coordinator/cli/report.h"
#include "coordinator/cli/serve.h"
#include "coordinator/cli/submit.h"

namespace benchfleet {
namespace {

struct Verb {
  const char* name;
  const char* purpose;
  int (*run)(int argc, char* const* argv);
};

constexpr Verb kVerbs[] = {
    {"check", "print what a suite would run, or all its problems", RunCheck},
    {"submit", "run a suite, follow it, print the report", RunSubmit},
    {"serve", "run the coordinator daemon", RunServe},
    {"agents", "list the agents", RunAgents},
    {"runs", "list the runs", RunRuns},
    {"watch", "follow a run", RunWatch},
    {"cancel", "cancel a run", RunCancel},
    {"report", "print the report of a run", RunReport},
    {"import", "read a result file into the database", RunImport},
    {"export-raw", "write the raw timings of a round", RunExportRaw},
};

std::string Usage() {
  std::string text =
      "usage: coordinator VERB [arguments] [flags]\n\nVerbs, each with "
      "--help:\n";
  for (const Verb& verb : kVerbs) {
    absl::StrAppend(&text, "  ", verb.name,
                    std::string(12 - std::string(verb.name).size(), ' '),
                    verb.purpose, "\n");
  }
  absl::StrAppend(&text,
                  "\nExit codes: 0 PASS, 1 FAIL, 2 bad suite or usage, 3 could "
                  "not run or reach,\n130 interrupted.\n");
  return text;
}

int Main(int argc, char** argv) {
  HoldStandardStreams();
  const std::string name = argc > 1 ? argv[1] : "";
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return verb.run(argc - 1, argv + 1);
  }
  if (name == "--help" || name == "help") {
    std::fputs(Usage().c_str(), stdout);
    return kExitPass;
  }
  if (name == "--version" || name == "version") {
    std::printf("benchfleet %s (%s)\n", kVersion, kBuildId);
    return kExitPass;
  }
  if (!name.empty()) {
    std::fprintf(stderr, "coordinator: no verb \"%s\"\n\n", name.c_str());
  }
  std::fputs(Usage().c_str(), stderr);
  return kExitUsage;
}

}  // namespace
}  // namespace benchfleet

int main(int argc, char** argv) { return benchfleet::Main(argc, argv); }
