#pragma once

namespace benchfleet {

// `coordinator submit`: runs a suite and follows it. Returns the exit code.
int RunSubmit(int argc, char* const* argv);

}  // namespace benchfleet
