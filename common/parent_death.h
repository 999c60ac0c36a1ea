// Children that do not outlive their parent, whatever happens to it.
#pragma once

#include <sys/types.h>

namespace benchfleet {

// SIGTERM for this process when `parent` ends. False: it has ended already.
bool DieWithParent(pid_t parent);

}  // namespace benchfleet
