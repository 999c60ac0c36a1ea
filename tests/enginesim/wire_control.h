// What each flavour answers beside generations. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/enginesim/wire.h"

namespace benchfleet::enginesim {

struct EngineFacts {
  std::string model;
  uint32_t context_window = 0;
  uint32_t max_running_requests = 0;
  int64_t started_s = 0;  // Unix time
};

struct EngineGauges {
  uint64_t running = 0;
  uint64_t waiting = 0;
  uint64_t prompt_tokens = 0;     // of requests taken so far
  uint64_t generated_tokens = 0;  // so far
};

std::string ModelsBody(Flavour flavour, const EngineFacts& facts);
std::string TokenizeBody(Flavour flavour, const EngineFacts& facts,
                         const std::vector<uint32_t>& tokens);
// Empty for vLLM and SGLang.
std::string HealthBody(Flavour flavour);
// The paths that tell the version or the settings; the first is the newest.
std::vector<absl::string_view> VersionPaths(Flavour flavour);
std::string VersionBody(Flavour flavour, const EngineFacts& facts);
// Prometheus text.
std::string MetricsBody(Flavour flavour, const EngineFacts& facts,
                        const EngineGauges& gauges);

}  // namespace benchfleet::enginesim
