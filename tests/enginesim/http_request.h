// Incremental parser of HTTP/1.1 requests, for a server that must not be
// harmed by its clients.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace benchfleet::enginesim {

struct HttpRequest {
  std::string method;
  std::string target;  // path and query, as sent
  std::vector<std::pair<std::string, std::string>> headers;  // lower-case names
  std::string body;
  bool keep_alive = true;

  // The first value of a header by its lower-case name; empty if absent.
  absl::string_view Header(absl::string_view name) const;
  // The target without its query.
  absl::string_view Path() const;
};

// One connection's requests, one after another. Thread-compatible.
class HttpRequestParser {
 public:
  struct Limits {
    size_t head_bytes = 64 << 10;
    size_t body_bytes = 32 << 20;
  };
  HttpRequestParser() : HttpRequestParser(Limits()) {}
  explicit HttpRequestParser(Limits limits) : limits_(limits) {}

  // Takes bytes up to the end of the current request and returns how many.
  // Takes nothing once done() or failed.
  size_t Feed(absl::string_view data);

  bool done() const { return state_ == State::kDone; }
  // The HTTP status to refuse with (400, 413, 431, 501, 505); 0 if none.
  int error_status() const { return error_status_; }
  // The head asked for "100 Continue" and the body is not complete.
  bool wants_continue() const;

  // REQUIRES: done(). The parser is then ready for the next request.
  HttpRequest Take();

 private:
  enum class State {
    kHead,
    kFixedBody,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailer,
    kDone,
    kError
  };

  size_t FeedOnce(absl::string_view data);
  size_t FeedHead(absl::string_view data);
  size_t FeedBody(absl::string_view data);
  size_t FeedLine(absl::string_view data);
  void TakeLine();
  void ParseHead(absl::string_view head);
  bool ParseRequestLine(absl::string_view line);
  bool ParseHeader(absl::string_view line);
  void ChooseBody();
  void ParseChunkSize();
  void Fail(int status);

  Limits limits_;
  State state_ = State::kHead;
  int error_status_ = 0;
  bool http10_ = false;
  std::string head_;
  std::string line_;  // of the chunked framing
  size_t trailer_bytes_ = 0;
  size_t body_left_ = 0;  // of the fixed body or of the current chunk
  HttpRequest request_;
};

}  // namespace benchfleet::enginesim
