#include "common/parent_death.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace benchfleet {

bool DieWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  return getppid() == parent;  // it may have ended before the call
}

}  // namespace benchfleet
