// coordinator report [RUN]: a run's report on stdout.
#pragma once

namespace benchfleet {

// 0 printed (whatever the run's verdict), 2 usage or no such run, 3 the
// database cannot be read or the coordinator not reached.
int RunReport(int argc, char* const* argv);

}  // namespace benchfleet
