#include "tests/enginesim/tests/engine_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace benchfleet::enginesim {

std::unique_ptr<EngineProcess> EngineProcess::Start(
    std::vector<std::string> flags) {
  flags.insert(flags.begin(), absl::StrCat(BIN_DIR, "/enginesim"));
  std::vector<char*> argv;
  for (std::string& flag : flags) argv.push_back(flag.data());
  argv.push_back(nullptr);
  int out[2];
  if (pipe(out) != 0) return nullptr;
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(out[1], 1);
    close(out[0]);
    close(out[1]);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  std::unique_ptr<EngineProcess> process(new EngineProcess(pid));
  std::FILE* stream = fdopen(out[0], "r");
  char line[128] = "";
  unsigned port = 0;
  const bool up = std::fgets(line, sizeof line, stream) != nullptr &&
                  std::sscanf(line, "listening on 127.0.0.1:%u", &port) == 1;
  std::fclose(stream);
  if (!up) return nullptr;
  process->port_ = static_cast<uint16_t>(port);
  return process;
}

EngineProcess::~EngineProcess() {
  if (pid_ > 0) Stop(SIGKILL);
}

int EngineProcess::Stop(int signal) {
  if (signal != 0) kill(pid_, signal);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int Connect(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
    return fd;
  close(fd);
  return -1;
}

std::string Exchange(uint16_t port, absl::string_view bytes) {
  const int fd = Connect(port);
  if (fd < 0) return "<refused>";
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  std::string response;
  char buffer[16384];
  ssize_t got = 0;
  while ((got = recv(fd, buffer, sizeof buffer, 0)) > 0)
    response.append(buffer, static_cast<size_t>(got));
  if (got < 0) response += "<reset>";
  close(fd);
  return response;
}

std::string Get(absl::string_view path) {
  return absl::StrCat("GET ", path,
                      " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

std::string Post(absl::string_view path, absl::string_view body,
                 absl::string_view headers) {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nConnection: close\r\n",
                      headers, "Content-Length: ", body.size(), "\r\n\r\n",
                      body);
}

std::string Dechunk(absl::string_view response) {
  const size_t end = response.find("\r\n\r\n");
  if (end == absl::string_view::npos) return std::string(response);
  std::string plain(response.substr(0, end + 4));
  absl::string_view rest = response.substr(end + 4);
  if (plain.find("transfer-encoding: chunked") == std::string::npos)
    return absl::StrCat(plain, rest);
  while (!rest.empty()) {
    const size_t line = rest.find("\r\n");
    uint32_t size = 0;
    if (line == absl::string_view::npos ||
        !absl::SimpleHexAtoi(rest.substr(0, line), &size))
      return absl::StrCat(plain, "<broken framing>", rest);
    plain.append(rest.data() + line + 2,
                 std::min<size_t>(size, rest.size() - line - 2));
    if (size == 0) break;
    rest.remove_prefix(std::min<size_t>(line + 2 + size + 2, rest.size()));
  }
  return plain;
}

size_t CountOf(absl::string_view text, absl::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace benchfleet::enginesim
