// The HTTP side of the simulated engine: one thread, epoll, non-blocking
// sockets, and a timer that wakes for the model's next event.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "tests/enginesim/engine_service.h"
#include "tests/enginesim/http_request.h"

namespace benchfleet::enginesim {

// An owned file descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }

 private:
  int fd_;
};

// Lives on one thread.
class Server final : public ResponseSink {
 public:
  // Listens at once. SIGTERM and SIGINT must be blocked: they end Run.
  static absl::StatusOr<std::unique_ptr<Server>> Create(const std::string& host,
                                                        uint16_t port,
                                                        const Clock& clock);

  uint16_t port() const { return port_; }

  // Serves until a signal (OkStatus) or until the service is dead (Aborted).
  absl::Status Run(EngineService& service);

  void Send(uint64_t connection, absl::string_view bytes) override;
  void Finish(uint64_t connection, bool keep_alive) override;
  void Reset(uint64_t connection) override;

 private:
  struct Connection {
    Fd fd;
    HttpRequestParser parser;
    std::string unparsed;  // behind the request in work
    std::string unsent;
    bool busy = false;     // a request is in work
    bool closing = false;  // ends when unsent is empty
    bool half_closed = false;
    bool continued = false;
    bool gone = false;  // to be erased; nothing is sent any more
    uint32_t events = 0;
  };

  Server(const Clock& clock, Fd listener, uint16_t port);
  absl::Status Init();

  void Turn(EngineService& service, uint64_t tag, uint32_t events);
  void Accept();
  void PauseAccepting(bool paused);
  void OnReady(EngineService& service, uint64_t id, uint32_t events);
  void Read(EngineService& service, uint64_t id, Connection& connection);
  void Parse(EngineService& service, uint64_t id, Connection& connection,
             absl::string_view bytes, Instant arrival);
  void Flush(Connection& connection);
  void Watch(uint64_t id, Connection& connection);
  void Settle(EngineService& service, uint64_t id);
  void SettleAll(EngineService& service);
  void SetTimer(Instant deadline);

  const Clock& clock_;
  Fd listener_;
  Fd epoll_, timer_, signals_;
  const uint16_t port_;
  uint64_t next_id_;
  bool accepting_ = true;
  bool stop_ = false;
  Instant timer_at_ = EngineService::kNever;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Connection>> connections_;
  // Written or finished since the last SettleAll.
  std::vector<uint64_t> touched_;
};

}  // namespace benchfleet::enginesim
