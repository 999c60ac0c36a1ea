#include "tests/enginesim/truth_log.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/enginesim/wire.h"

namespace benchfleet::enginesim {

std::string TruthLine(const Truth& truth) {
  return absl::StrCat(
      "{\"id\":", truth.id.has_value() ? JsonString(*truth.id) : "null",
      ",\"n\":", truth.n, ",\"path\":", JsonString(truth.path),
      ",\"body_hash\":\"", truth.body_hash,
      "\",\"arrival_ns\":", truth.arrival_ns, ",\"open\":", truth.open,
      ",\"token_ns\":[", absl::StrJoin(truth.token_ns, ","),
      "],\"done_ns\":", truth.done_ns,
      ",\"prompt_tokens\":", truth.prompt_tokens,
      ",\"output_tokens\":", truth.output_tokens, ",\"status\":", truth.status,
      ",\"end\":", JsonString(truth.end), "}\n");
}

TruthLog::~TruthLog() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status TruthLog::Open(const std::string& path) {
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr)
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
  return absl::OkStatus();
}

void TruthLog::Write(const Truth& truth) {
  if (file_ == nullptr) return;
  const std::string line = TruthLine(truth);
  if (std::fwrite(line.data(), 1, line.size(), file_) == line.size() &&
      std::fflush(file_) == 0)
    return;
  if (!failed_)
    std::fprintf(stderr, "truth file: %s; it is incomplete\n",
                 std::strerror(errno));
  failed_ = true;
}

}  // namespace benchfleet::enginesim
