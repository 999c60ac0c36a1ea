#include "coordinator/cli/check.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/flags.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/suite_file.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/plan_text.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

constexpr uint32_t kMaxAgents = 10'000;
constexpr size_t kMaxAgentCounts = 4;

// "3" or "1,3,10".
absl::StatusOr<std::vector<uint32_t>> ParseAgentCounts(
    const std::string& text) {
  std::vector<uint32_t> counts;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    uint32_t count = 0;
    if (part.find_first_not_of("0123456789") != absl::string_view::npos ||
        !absl::SimpleAtoi(part, &count) || count < 1 || count > kMaxAgents ||
        counts.size() == kMaxAgentCounts) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--agents=", text, ": expected up to ", kMaxAgentCounts,
          " numbers from 1 to ", kMaxAgents, ", such as 3 or 1,3,10"));
    }
    counts.push_back(count);
  }
  return counts;
}

int Refuse(absl::string_view message) {
  const std::string line = absl::StrCat("coordinator check: ", message, "\n");
  std::fputs(line.c_str(), stderr);
  return kExitUsage;
}

int CheckFile(const std::string& path,
              const std::vector<uint32_t>& agent_counts) {
  const absl::StatusOr<std::string> text = ReadSuiteFile(path);
  if (!text.ok()) return Refuse(text.status().message());
  const ParsedSuite parsed = ParseSuite(*text);
  if (!parsed.problems.empty()) {
    std::fputs(FormatProblems(path, parsed.problems).c_str(), stderr);
    return kExitUsage;
  }
  const Plan plan = MakePlan(parsed.suite, RandomSeedFromSystem());
  std::fputs(PlanText(plan, agent_counts).c_str(), stdout);
  return kExitPass;
}

}  // namespace

int RunCheck(int argc, char* const* argv) {
  std::string agents = "3";
  FlagSet flags("coordinator check SUITE.pb.txt [flags]",
                "Prints what a suite would run, or all that is wrong with it "
                "(exit code 2).");
  flags.String("agents", &agents,
               "show how each case falls on this many agents; several: 1,3,10");
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok()) return Refuse(arguments.status().message());
  if (flags.help_asked()) {
    std::fputs(flags.Help().c_str(), stdout);
    return kExitPass;
  }
  const auto counts = ParseAgentCounts(agents);
  if (!counts.ok()) return Refuse(counts.status().message());
  if (arguments->size() != 1) {
    return Refuse("name one suite file; see --help");
  }
  return CheckFile(arguments->front(), *counts);
}

}  // namespace benchfleet
