#include "common/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace benchfleet {
namespace {

std::shared_ptr<spdlog::logger>& Logger() {
  static auto& logger =
      *new std::shared_ptr<spdlog::logger>(std::make_shared<spdlog::logger>(
          "benchfleet", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  return logger;
}

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void LogLine(LogLevel level, absl::string_view text) {
  Logger()->log(LevelOf(level),
                spdlog::string_view_t(text.data(), text.size()));
}

absl::Status CheckLogLevel(const std::string& level) {
  for (const char* known : {"debug", "info", "warn", "error", "off"}) {
    if (level == known) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--log-level=", level, ": expected debug, info, warn, error or off"));
}

void SetUpLog(const std::string& name, const std::string& level) {
  // gRPC's own lines repeat, in worse words, what our errors say.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  auto logger = std::make_shared<spdlog::logger>(
      name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %n: %v");
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::info);
  Logger() = std::move(logger);
}

}  // namespace benchfleet
