#include "tests/support/tcp_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace benchfleet {
namespace {

int Listen(const std::string& host, int* port) {
  sockaddr_storage storage{};
  socklen_t size;
  if (host.find(':') == std::string::npos) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    inet_pton(AF_INET, host.c_str(), &v4->sin_addr);
    size = sizeof(*v4);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr);
    size = sizeof(*v6);
  }
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (fd < 0 || bind(fd, address, size) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, address, &size) != 0) {
    if (fd >= 0) close(fd);
    return -1;
  }
  *port = ntohs(storage.ss_family == AF_INET
                    ? reinterpret_cast<sockaddr_in*>(&storage)->sin_port
                    : reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port);
  return fd;
}

}  // namespace

TcpServer::TcpServer(Handler handler, const std::string& host)
    : handler_(std::move(handler)), host_(host) {
  listener_ = Listen(host, &port_);
  if (listener_ >= 0) acceptor_ = std::thread([this] { Serve(); });
}

TcpServer::~TcpServer() {
  stopped_ = true;
  if (listener_ < 0) return;
  shutdown(listener_, SHUT_RDWR);  // wakes accept
  acceptor_.join();
  close(listener_);
  {
    MutexLock lock(mutex_);
    for (int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string TcpServer::url() const {
  const bool v6 = host_.find(':') != std::string::npos;
  return absl::StrCat("http://", v6 ? "[" : "", host_, v6 ? "]" : "", ":",
                      port_);
}

void TcpServer::Serve() {
  while (!stopped_) {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    const int number = connections_++;
    {
      MutexLock lock(mutex_);
      open_.push_back(fd);
    }
    threads_.emplace_back([this, fd, number] {
      handler_(fd, number);
      MutexLock lock(mutex_);
      open_.erase(std::find(open_.begin(), open_.end(), fd));
      close(fd);
    });
  }
}

std::string TcpServer::ReadToEnd(int fd) {
  std::string all;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    all.append(buffer, static_cast<size_t>(n));
  }
  return all;
}

std::string TcpServer::ReadRequest(int fd) {
  std::string request;
  size_t wanted = 0;  // once the head is known
  char buffer[65536];
  while (wanted == 0 || request.size() < wanted) {
    // The head by bytes, so that nothing of a next request is taken.
    const size_t most =
        wanted == 0 ? 1 : std::min(sizeof(buffer), wanted - request.size());
    const ssize_t n = read(fd, buffer, most);
    if (n <= 0) break;
    request.append(buffer, static_cast<size_t>(n));
    if (wanted != 0 || !absl::EndsWith(request, "\r\n\r\n")) continue;
    wanted = request.size();
    const size_t at = request.find("Content-Length: ");
    if (at == std::string::npos) break;
    const size_t end = request.find('\r', at);
    size_t length = 0;
    if (absl::SimpleAtoi(request.substr(at + 16, end - at - 16), &length)) {
      wanted += length;
    }
  }
  return request;
}

void TcpServer::Write(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace benchfleet
