// One request and its answer on a libcurl easy handle, used again and again.
// Internal to CurlTransport.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/http/curl_transport.h"
#include "agent/http/http_transport.h"
#include "common/clock.h"

struct curl_slist;

namespace benchfleet {

// Request headers in libcurl's form, shared by the requests that bear them.
class CurlHeaders {
 public:
  // INVALID_ARGUMENT: a line is no "Name: value".
  static absl::StatusOr<std::shared_ptr<const CurlHeaders>> Create(
      const std::vector<std::string>& lines);
  ~CurlHeaders();
  CurlHeaders(const CurlHeaders&) = delete;
  CurlHeaders& operator=(const CurlHeaders&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }
  curl_slist* list() const { return list_; }

 private:
  CurlHeaders() = default;
  std::vector<std::string> lines_;
  curl_slist* list_ = nullptr;
};

// libcurl calls back with bytes, which are stamped and kept; nobody hears of
// them before Deliver.
class CurlExchange {
 public:
  // `touched_list` gets each exchange that has something to deliver, once.
  CurlExchange(const CurlTransportOptions& options, const Clock& clock,
               std::vector<CurlExchange*>* touched_list);
  ~CurlExchange();
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  // Makes the easy handle ready to be added.
  absl::Status Prepare(const HttpRequest& request, HttpObserver* observer,
                       std::shared_ptr<const CurlHeaders> headers);
  // To the observer: what came since the last time.
  void Deliver(uint64_t turn);
  // To the observer: the end. Nothing of the request is used afterwards.
  void DeliverEnd(const TransportEnd& end, Instant stamp);

  // How it ended, by libcurl's code.
  TransportEnd EndOf(int curl_code) const;
  // For an end that we brought about.
  TransportEnd EndBy(TransportEnd::Kind kind, std::string message) const;

  // When the request has lasted too long. libcurl minds the connect timeout.
  Instant Deadline() const;
  std::string TimeoutMessage() const;
  // Stamp of bytes that came in `turn`, if any did.
  std::optional<Instant> StampOfTurn(uint64_t turn) const;

  void* easy() const { return easy_; }

  // Kept by the transport.
  uint64_t id = 0;
  bool active = false;
  bool touched = false;

 private:
  static size_t OnHeader(char* data, size_t size, size_t n, void* self);
  static size_t OnBody(char* data, size_t size, size_t n, void* self);
  static int OnRequest(void* self, char*, char*, int, int);
  static int OnNewSocket(void* self, int fd, int purpose);

  void SetFixedOptions(const CurlTransportOptions& options);
  absl::Status SetUrl(const std::string& url);
  void Touch();
  void TakeHeaderLine(absl::string_view line);
  void AddConnectionFacts(TransportEnd* end) const;
  std::string Reason(int curl_code) const;

  const Clock& clock_;
  std::vector<CurlExchange*>* const touched_list_;
  void* easy_;
  std::array<char, 512> error_{};

  std::string url_;
  std::string peer_;
  std::shared_ptr<const CurlHeaders> headers_;
  HttpObserver* observer_ = nullptr;
  HttpTimeouts timeouts_;

  Instant started_;
  bool requested_ = false;             // connected, the request goes out
  std::optional<Instant> last_bytes_;  // of the body
  uint64_t last_turn_ = 0;
  int sockets_opened_ = 0;
  bool new_connection_ = false;
  bool resend_refused_ = false;

  int status_ = 0;
  std::string content_type_;
  std::string content_encoding_;
  bool head_complete_ = false;
  bool head_delivered_ = false;
  std::string pending_;
};

}  // namespace benchfleet
