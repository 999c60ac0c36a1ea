// Standard streams that the caller has closed.
#pragma once

namespace benchfleet {

// First thing in main: gives descriptors 0 to 2 that are closed to /dev/null,
// so that no file or socket opened later gets one of them, and with it what is
// meant for a terminal. Reading ends at once; writing still fails.
void HoldStandardStreams();

}  // namespace benchfleet
