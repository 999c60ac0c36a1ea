// Log lines to stderr, by spdlog.
//
//   LogInfo("agent ", id, " attached");
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace benchfleet {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Thread-safe.
void LogLine(LogLevel level, absl::string_view text);

// InvalidArgument, naming --log-level: not one of those that SetUpLog takes.
absl::Status CheckLogLevel(const std::string& level);

// Called once by main, before other threads. `name` stands in each line;
// `level` is debug, info, warn, error or off.
void SetUpLog(const std::string& name, const std::string& level);

template <typename... Parts>
void LogInfo(const Parts&... parts) {
  LogLine(LogLevel::kInfo, absl::StrCat(parts...));
}
template <typename... Parts>
void LogWarning(const Parts&... parts) {
  LogLine(LogLevel::kWarning, absl::StrCat(parts...));
}
template <typename... Parts>
void LogError(const Parts&... parts) {
  LogLine(LogLevel::kError, absl::StrCat(parts...));
}

}  // namespace benchfleet
