#pragma once

namespace benchfleet {

// `coordinator serve`: the daemon. Returns the exit code.
int RunServe(int argc, char* const* argv);

}  // namespace benchfleet
