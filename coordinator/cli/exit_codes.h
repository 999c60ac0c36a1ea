// What the process tells its caller.
#pragma once

namespace benchfleet {

inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;
inline constexpr int kExitUsage = 2;  // bad suite or usage
inline constexpr int kExitCouldNotRun = 3;
inline constexpr int kExitInterrupted = 130;

}  // namespace benchfleet
