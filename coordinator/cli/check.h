// coordinator check: a suite's plan, or all that is wrong with it.
#pragma once

namespace benchfleet {

// argv[0] is the verb. The plan goes to standard output, problems to standard
// error. Returns kExitPass or kExitUsage.
int RunCheck(int argc, char* const* argv);

}  // namespace benchfleet
