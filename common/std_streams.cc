#include "common/std_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace benchfleet {

void HoldStandardStreams() {
  int fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDONLY);
  if (fd >= 0) close(fd);
}

}  // namespace benchfleet
