// A server that streams completions at exact times and costs little, so that
// what is measured beside it is the client.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"

namespace benchfleet::bench {

// What was really done for one request; CLOCK_MONOTONIC.
struct Truth {
  std::string id;  // x-request-id
  Instant arrival;
  std::vector<Instant> tokens;  // right before each write
};

struct SourceOptions {
  absl::Duration ttft;      // from the request's last byte
  absl::Duration interval;  // between tokens; zero: as fast as it can
  // Unpaced: tokens per write.
  uint64_t burst = 1;
  // Streams' phases spread over the interval, else as the requests came.
  bool spread = false;
  // All streams write at the same multiples of the interval, as an engine's
  // decode steps do.
  bool lockstep = false;
  bool keep_truth = false;
};

// One thread. POST: a stream of max_tokens chunks, the last one with finish,
// usage and [DONE] in the same write; the head comes with the first. GET: a
// model list.
class PacedSource {
 public:
  // Listens on 127.0.0.1. SIGTERM and SIGINT must be blocked: they end Run.
  static absl::StatusOr<std::unique_ptr<PacedSource>> Create(
      const SourceOptions& options, const Clock& clock);
  ~PacedSource();

  uint16_t port() const { return port_; }
  void Run();
  uint64_t tokens_sent() const { return tokens_sent_; }
  const std::deque<Truth>& truth() const { return truth_; }

 private:
  struct Stream {
    int fd = -1;
    uint64_t serial = 0;  // of the connection
    std::string in, unsent;
    uint64_t asked = 0, left = 0;  // tokens
    bool head_due = false;
    bool close_after = false;
    Truth* truth = nullptr;
  };
  struct Due {
    Instant at;
    Stream* stream;
    uint64_t serial;
  };

  PacedSource(const SourceOptions& options, const Clock& clock)
      : options_(options), clock_(clock) {}
  absl::Status Init();
  void Watch(int fd, Stream* stream, bool write, bool add);
  void Accept();
  void Read(Stream& stream);
  void Serve(Stream& stream, absl::string_view head, absl::string_view body);
  void StartStream(Stream& stream, absl::string_view head,
                   absl::string_view body);
  Instant FirstDue(Instant arrival);
  void SendTokens(Stream& stream, uint64_t count);
  void Send(Stream& stream, absl::string_view bytes);
  void Flush(Stream& stream);
  void EndAnswer(Stream& stream);
  void Drop(Stream& stream);
  void RunDue();
  void RunUnpaced();
  void Arm();

  const SourceOptions options_;
  const Clock& clock_;
  int listener_ = -1, epoll_ = -1, timer_ = -1, signals_ = -1;
  uint16_t port_ = 0;
  bool stop_ = false;
  uint64_t connections_ = 0, requests_ = 0, tokens_sent_ = 0;
  Instant armed_;

  std::deque<Stream> streams_;
  std::vector<Stream*> unused_;
  // Each in order of time, as each adds a constant to a time that grows.
  std::deque<Due> first_tokens_, next_tokens_;
  std::deque<Due> unpaced_;
  std::deque<Truth> truth_;
  std::string bytes_;  // of the write in hand
};

}  // namespace benchfleet::bench
