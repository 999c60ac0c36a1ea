// The small verbs about runs and agents. Each returns the exit code.
#pragma once

namespace benchfleet {

int RunWatch(int argc, char* const* argv);
int RunRuns(int argc, char* const* argv);
int RunCancel(int argc, char* const* argv);
int RunAgents(int argc, char* const* argv);

}  // namespace benchfleet
