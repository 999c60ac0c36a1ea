// A small run for tests of the store and the reports: figures are simple
// enough to check by hand.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "coordinator/store/round_store.h"

namespace benchfleet {

// A directory of its own, removed at the end.
class TempDir {
 public:
  TempDir() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "benchfleet-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Two engines, one case of 2 requests, 2 repeats: 4 rounds.
inline NewRun SampleRun() {
  NewRun run;
  run.run.suite_name = "sample";
  run.run.suite_text =
      "name: \"sample\" model: \"m\" repeats: 2\n"
      "engines { name: \"vllm\" kind: VLLM }\n"
      "engines { name: \"llama\" kind: LLAMACPP insecure_skip_verify: true }\n"
      "cases { id: \"short-c2\" input_tokens: 8 output_tokens: 3 "
      "concurrency: 2 requests: 2 }\n";
  run.run.seed = 0xfedcba9876543210;
  run.run.model = "m";
  run.run.precision = "BF16";
  run.run.hardware = "caf\xc3\xa9 \"box\"";
  run.run.context_window = 32768;
  run.run.max_running_requests = 32;
  run.run.tensor_parallel_size = 8;
  run.run.repeats = 2;
  run.run.state = v1::QUEUED;
  run.run.created = absl::FromUnixSeconds(1780000000);
  run.engines = {{"vllm", "VLLM", "http://127.0.0.1:8000", "m", false},
                 {"llama", "LLAMACPP", "https://127.0.0.1:8001", "m", true}};
  run.cases = {{"short-c2", 8, 3, 2, 2, 1, false}};
  for (uint32_t i = 0; i < 4; ++i) {
    RoundRow round;
    round.index = i;
    round.engine = i / 2;
    round.repeat = i % 2 + 1;
    round.request_seed = 0xffffffffffffff00 + i;
    round.warmup_seed = i;
    run.rounds.push_back(round);
  }
  return run;
}

inline std::vector<ShareRow> SampleShares() {
  std::vector<ShareRow> shares(2);
  shares[0].agent_id = "a";
  shares[0].instance_id = "a1";
  shares[0].hostname = "host-a";
  shares[0].build_id = "build";
  shares[0].concurrency = 1;
  shares[0].clock_offset_ns = 0;
  shares[0].clock_bound_ns = 0;
  shares[1] = shares[0];
  shares[1].agent_id = "b";
  shares[1].instance_id = "b1";
  shares[1].hostname = "host-b";
  // Its monotonic clock is 100 s behind the coordinator's.
  shares[1].clock_offset_ns = 100'000'000'000;
  shares[1].clock_bound_ns = 50'000;
  return shares;
}

// Sent at `sent_ms`; tokens 100 ms, then twice `itl_ms`, later; done 1 ms on.
inline v1::RequestTiming SampleTiming(uint32_t ordinal, int64_t sent_ms,
                                      int64_t itl_ms) {
  constexpr int64_t kMs = 1'000'000;
  v1::RequestTiming t;
  t.set_ordinal(ordinal);
  t.set_outcome(v1::COMPLETED);
  t.set_http_status(200);
  t.set_scheduled_ns(sent_ms * kMs);
  t.set_sent_ns(sent_ms * kMs);
  t.set_first_byte_ns((sent_ms + 99) * kMs);
  t.set_first_choice_ns((sent_ms + 100) * kMs);
  t.add_token_delta_ns(100 * kMs);
  t.add_token_delta_ns(static_cast<uint64_t>(itl_ms * kMs));
  t.add_token_delta_ns(static_cast<uint64_t>(itl_ms * kMs));
  const int64_t done = (sent_ms + 101 + 2 * itl_ms) * kMs;
  t.set_last_byte_ns(done);
  t.set_done_ns(done);
  t.set_end_ns(done);
  t.set_output_tokens(3);
  t.set_token_count_source(v1::USAGE);
  t.set_usage_prompt_tokens(8);
  t.set_request_bytes(300);
  t.set_response_bytes(900);
  t.set_body_hash(0xfeed000000000000 + ordinal);
  return t;
}

inline v1::TimingBatch SampleBatch(int64_t attempt_id, uint64_t epoch,
                                   const std::string& agent, uint64_t seq,
                                   std::vector<v1::RequestTiming> timings) {
  v1::TimingBatch batch;
  batch.mutable_attempt()->set_attempt_id(attempt_id);
  batch.mutable_attempt()->set_epoch(epoch);
  batch.set_agent_id(agent);
  batch.set_instance_id(agent + "1");
  batch.set_seq(seq);
  for (auto& timing : timings) *batch.add_timings() = std::move(timing);
  return batch;
}

inline AttemptRow SampleAttempt(int64_t round_id, uint64_t epoch) {
  AttemptRow attempt;
  attempt.round_id = round_id;
  attempt.epoch = epoch;
  attempt.requests = 2;
  attempt.started = absl::FromUnixSeconds(1780000001);
  return attempt;
}

}  // namespace benchfleet
