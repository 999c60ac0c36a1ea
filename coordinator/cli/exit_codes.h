// What every verb's exit code says.
#pragma once

namespace benchfleet {

inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;   // measured, and not PASS
inline constexpr int kExitUsage = 2;  // bad suite or command line
inline constexpr int kExitCouldNotRun = 3;
inline constexpr int kExitInterrupted = 130;

}  // namespace benchfleet
