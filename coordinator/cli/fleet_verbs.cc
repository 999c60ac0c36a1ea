#include "coordinator/cli/fleet_verbs.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/clock.h"
#include "common/flags.h"
#include "coordinator/agent_summary.h"
#include "coordinator/cli/control_client.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/follow.h"
#include "coordinator/cli/read_source.h"
#include "coordinator/cli/runs_text.h"
#include "coordinator/cli/verb_output.h"
#include "coordinator/report/run_summaries.h"

namespace benchfleet {
namespace {

absl::StatusOr<ReadingCall> ParseListCall(const std::string& verb,
                                          const std::string& purpose, int argc,
                                          char* const* argv) {
  auto call = ParseReadingCall(
      verb, FlagSet(absl::StrCat("coordinator ", verb, " [flags]"), purpose),
      argc, argv);
  if (call.ok() && !call->rest.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument ", call->rest.front()));
  }
  return call;
}

absl::StatusOr<v1::RunProgress> StoredRun(const ReadSource& source,
                                          int64_t run_id) {
  auto store = source.OpenDb();
  if (!store.ok()) return store.status();
  const auto run = (*store)->Run(run_id);
  if (!run.ok()) return run.status();
  v1::RunProgress progress;
  progress.set_run_id(run->id);
  progress.set_state(run->state);
  progress.set_verdict(run->verdict);
  for (const std::string& reason : run->reasons) progress.add_reasons(reason);
  return progress;
}

absl::StatusOr<std::vector<v1::AgentSummary>> StoredAgents(
    const ReadSource& source) {
  auto store = source.OpenDb();
  if (!store.ok()) return store.status();
  const auto rows = (*store)->Agents();
  if (!rows.ok()) return rows.status();
  std::vector<v1::AgentSummary> agents;
  for (const AgentRow& row : *rows) agents.push_back(SummaryOf(row));
  return agents;
}

std::string AgentsText(const std::vector<v1::AgentSummary>& agents) {
  std::string text = absl::StrFormat("%-20s %-20s %-9s %5s %7s %6s  %-20s %s\n",
                                     "AGENT", "HOST", "STATE", "CPUS", "MAX",
                                     "WEIGHT", "LAST SEEN", "BUSY WITH");
  for (const v1::AgentSummary& agent : agents) {
    absl::StrAppendFormat(
        &text, "%-20s %-20s %-9s %5d %7s %6d  %-20s %s\n", agent.agent_id(),
        agent.hostname(), agent.connected() ? "connected" : "away",
        agent.cpus(),
        agent.max_concurrency() == 0 ? "-"
                                     : absl::StrCat(agent.max_concurrency()),
        agent.weight(),
        absl::FormatTime("%Y-%m-%d %H:%M:%SZ",
                         absl::FromUnixNanos(agent.last_seen_unix_ns()),
                         absl::UTCTimeZone()),
        agent.busy_with());
  }
  return agents.empty() ? "no agents\n" : text;
}

}  // namespace

int RunWatch(int argc, char* const* argv) {
  const auto parsed = ParseReadingCall(
      "watch",
      FlagSet("coordinator watch [RUN] [flags]",
              "Follows a run of a coordinator to its end and prints its "
              "report; of a "
              "database file, says how a run stands. RUN: default the latest."),
      argc, argv);
  if (!parsed.ok()) return FailVerb("watch", parsed.status());
  if (parsed->help) return kExitPass;
  const auto run_id = RunArgument(parsed->rest);
  if (!run_id.ok()) return FailVerb("watch", run_id.status());
  if (parsed->source.is_coordinator()) {
    ControlClient client(parsed->source.coordinator);
    return FollowRun(client, *run_id, RealClock());
  }
  const auto run = StoredRun(parsed->source, *run_id);
  if (!run.ok()) return FailVerb("watch", run.status());
  if (run->state() == v1::QUEUED || run->state() == v1::RUNNING) {
    return FailVerb("watch",
                    absl::UnavailableError(absl::StrCat(
                        "run ", run->run_id(),
                        " is not finished; its coordinator can say more "
                        "(--coordinator)")));
  }
  PrintAll("watch", OutcomeText(*run));
  return ExitCodeOf(*run);
}

int RunRuns(int argc, char* const* argv) {
  const auto parsed =
      ParseListCall("runs", "Lists the runs, the latest last.", argc, argv);
  if (!parsed.ok()) return FailVerb("runs", parsed.status());
  if (parsed->help) return kExitPass;
  absl::StatusOr<std::vector<v1::RunSummary>> runs;
  if (parsed->source.is_coordinator()) {
    runs = ControlClient(parsed->source.coordinator).Runs();
  } else {
    auto store = parsed->source.OpenDb();
    if (!store.ok()) return FailVerb("runs", store.status());
    runs = Summaries(**store);
  }
  if (!runs.ok()) return FailVerb("runs", runs.status());
  return PrintAll("runs", RunsText(*runs));
}

int RunCancel(int argc, char* const* argv) {
  const auto parsed = ParseReadingCall(
      "cancel",
      FlagSet("coordinator cancel RUN [flags]",
              "Cancels a run of a coordinator; harmless if it is over."),
      argc, argv);
  if (!parsed.ok()) return FailVerb("cancel", parsed.status());
  if (parsed->help) return kExitPass;
  const auto run_id = RunArgument(parsed->rest);
  if (!run_id.ok()) return FailVerb("cancel", run_id.status());
  if (*run_id == 0 || !parsed->source.is_coordinator()) {
    return FailVerb("cancel", absl::InvalidArgumentError(
                                  "needs a run number and --coordinator"));
  }
  const absl::Status cancelled =
      ControlClient(parsed->source.coordinator).Cancel(*run_id);
  if (!cancelled.ok()) return FailVerb("cancel", cancelled);
  return PrintAll("cancel",
                  absl::StrCat("run ", *run_id, " is being cancelled\n"));
}

int RunAgents(int argc, char* const* argv) {
  const auto parsed = ParseListCall(
      "agents", "Lists the agents that have ever attached.", argc, argv);
  if (!parsed.ok()) return FailVerb("agents", parsed.status());
  if (parsed->help) return kExitPass;
  const auto agents = parsed->source.is_coordinator()
                          ? ControlClient(parsed->source.coordinator).Agents()
                          : StoredAgents(parsed->source);
  if (!agents.ok()) return FailVerb("agents", agents.status());
  return PrintAll("agents", AgentsText(*agents));
}

}  // namespace benchfleet
