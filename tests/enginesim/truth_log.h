// What the engine really did, one JSON line per request, for tests that
// compare a client's figures with it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace benchfleet::enginesim {

// Stamps are CLOCK_MONOTONIC ns.
struct Truth {
  absl::optional<std::string> id;  // the x-request-id header
  uint64_t n = 0;                  // arrival number, from 1
  std::string path;
  std::string body_hash;   // first 8 bytes of the body's SHA-256, hex
  int64_t arrival_ns = 0;  // the read of the request's last byte
  uint64_t open = 0;       // requests open then, this one included
  // Right before the write of each token (streamed), or when it was made.
  std::vector<int64_t> token_ns;
  int64_t done_ns = 0;  // right before the write of [DONE] or the whole reply
  uint32_t prompt_tokens = 0;
  uint32_t output_tokens = 0;
  int status = 0;
  std::string end = "ok";  // ok, refused, client_closed, shutdown, fault_KIND
};

std::string TruthLine(const Truth& truth);

// Thread-compatible.
class TruthLog {
 public:
  TruthLog() = default;  // keeps nothing
  TruthLog(const TruthLog&) = delete;
  TruthLog& operator=(const TruthLog&) = delete;
  ~TruthLog();

  // Truncates the file.
  absl::Status Open(const std::string& path);
  // Flushed when it returns; a full disk is said once on stderr.
  void Write(const Truth& truth);

 private:
  std::FILE* file_ = nullptr;
  bool failed_ = false;
};

}  // namespace benchfleet::enginesim
