#include "common/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

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

void SetUpLog(const std::string& name, const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>(
      name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %n: %v");
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::info);
  Logger() = std::move(logger);
}

}  // namespace benchfleet
