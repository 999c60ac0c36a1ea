// A TCP server on loopback whose behaviour is a function.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/mutex.h"

namespace benchfleet {

class TcpServer {
 public:
  // Runs on a thread per connection; the socket is closed when it returns, and
  // shut down when the server goes.
  // `number` counts connections from 0.
  using Handler = std::function<void(int fd, int number)>;

  // `host` is 127.0.0.1 or ::1. Port 0 (see port()) if it cannot listen.
  explicit TcpServer(Handler handler, const std::string& host = "127.0.0.1");
  ~TcpServer();

  int port() const { return port_; }
  // "http://host:port".
  std::string url() const;
  int connections() const { return connections_; }

  // Blocks until the client closes; what it sent.
  static std::string ReadToEnd(int fd);
  // One request with its body; "" if the client closed before.
  static std::string ReadRequest(int fd);
  static void Write(int fd, absl::string_view bytes);

 private:
  void Serve();

  const Handler handler_;
  const std::string host_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<int> connections_{0};
  Mutex mutex_;
  std::vector<int> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace benchfleet
