// Turns one answer to a streaming request into a RequestTiming, by METRICS.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/http/chunk.h"
#include "agent/http/http_transport.h"
#include "agent/http/sse_parser.h"
#include "benchfleet/v1/timing.pb.h"
#include "common/clock.h"

namespace benchfleet {

// What the request asked for.
struct Asked {
  bool chat = false;
  bool include_usage = true;
  // 0: not checked against the usage.
  uint32_t input_tokens = 0;
  uint32_t output_tokens = 0;
  // The API key, which servers repeat in errors. Must outlive the reader's use.
  absl::string_view key;
};

// One answer at a time; Reset makes it fit for the next and keeps its memory.
// No allocation per token while the answer has at most about as many content
// chunks as tokens were asked. Thread-compatible.
class ResponseReader final : public HttpObserver {
 public:
  // More content chunks than that are malformed.
  static constexpr size_t kMaxContentChunks = size_t{1} << 19;

  ResponseReader() { Reset(Asked()); }
  explicit ResponseReader(const Asked& asked) { Reset(asked); }
  void Reset(const Asked& asked);
  // When the request was handed to the transport. Set before the first byte.
  void set_sent(Instant sent) { sent_ = sent; }

  void OnHead(int status, absl::string_view content_type,
              absl::string_view content_encoding) override;
  void OnBytes(absl::string_view bytes, Instant stamp, uint64_t turn) override;
  void OnEnd(const TransportEnd& end, Instant stamp) override;

  // OnEnd came: the outcome stands.
  bool done() const { return done_; }
  // [DONE], a failure or another status than 200 came: whatever follows does
  // not change the outcome.
  // The body's end is worth a short wait, so that the connection can be used
  // again; then the exchange may be cut.
  bool stream_over() const {
    return done_stamp_.has_value() || outcome_ != v1::OUTCOME_UNSPECIFIED ||
           (status_ != 200 && status_ != 0);
  }
  // REQUIRES: done().
  v1::Outcome outcome() const { return outcome_; }
  bool completed() const { return outcome_ == v1::COMPLETED; }
  uint64_t output_tokens() const;
  Instant end() const { return end_; }
  size_t content_chunks() const { return arrivals_.size(); }
  std::optional<Instant> last_content() const {
    if (arrivals_.empty()) return std::nullopt;
    return arrivals_.back();
  }
  uint64_t response_bytes() const { return response_bytes_; }

  // All but ordinal, scheduled_ns and what belongs to the request and its slot
  // (request_bytes, body_hash, slot_turnaround_ns).
  // REQUIRES: done().
  void Fill(v1::RequestTiming* timing) const;

 private:
  struct Arrival {
    Instant stamp;
    uint64_t turn;
  };
  // A finish without output, of which the final usage decides (R4).
  struct EndChunk {
    Arrival arrival;
    std::optional<uint64_t> tokens_so_far;
  };

  void OnEvent(const SseEvent& event, Arrival arrival);
  void OnChunk(const ChunkFacts& facts, Arrival arrival);
  void AddContent(Arrival arrival, std::optional<uint64_t> tokens_so_far);
  void NoteTokens(std::optional<uint64_t> tokens_so_far);
  // The first failure stands.
  void Fail(v1::Outcome outcome, std::string error);
  std::string Quote(absl::string_view text) const;

  // At the end of the body.
  void TakeUnfinished();
  void SettleEndChunk();
  void Judge(const TransportEnd& end);
  void JudgeWithoutAnswer(const TransportEnd& end);
  void JudgeStatus();
  void JudgeUnfinishedStream(const TransportEnd& end);
  void JudgeCleanEnd();
  bool IsNoEventStream() const;
  bool UsageIsMissing() const;
  bool UsageIsInconsistent() const;
  void FillFlags(v1::RequestTiming* timing) const;
  void FillTokens(v1::RequestTiming* timing) const;

  Asked asked_;
  Instant sent_;
  SseParser parser_;

  int status_ = 0;  // 0: no head came
  std::string content_type_;
  std::string content_encoding_;  // "" for identity
  std::string head_;              // first bytes of the body
  uint64_t response_bytes_ = 0;

  std::optional<Instant> first_byte_;
  std::optional<Instant> first_choice_;
  std::optional<Instant> done_stamp_;  // of [DONE]
  Arrival last_bytes_{};
  Instant end_;

  std::vector<Instant> arrivals_;       // of the content chunks
  std::vector<uint32_t> chunk_tokens_;  // while all tell
  bool tokens_told_ = true;
  uint64_t tokens_so_far_ = 0;
  uint64_t last_content_turn_ = 0;
  uint32_t coalesced_ = 0;
  std::optional<EndChunk> end_chunk_;
  std::optional<UsageNumbers> usage_;
  bool finished_ = false;  // a finish_reason came
  bool cut_event_ = false;

  bool done_ = false;
  v1::Outcome outcome_ = v1::OUTCOME_UNSPECIFIED;
  std::string error_;
  TransportEnd transport_;
};

}  // namespace benchfleet
