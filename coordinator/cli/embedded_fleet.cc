#include "coordinator/cli/embedded_fleet.h"

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

extern char** environ;

namespace benchfleet {
namespace {

constexpr absl::Duration kChildGrace = absl::Seconds(5);

// `agent`, beside this binary.
absl::StatusOr<std::string> AgentBinary() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return absl::InternalError("cannot read /proc/self/exe");
  std::string binary(path, static_cast<size_t>(length));
  binary.replace(binary.rfind('/') + 1, std::string::npos, "agent");
  if (access(binary.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(binary, ": ", std::strerror(errno),
                     "; the agent belongs beside the coordinator"));
  }
  return binary;
}

bool EndsWithin(pid_t child, absl::Duration limit) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd end = {.fd = fd, .events = POLLIN, .revents = 0};
  const int64_t wait_ms =
      std::max<int64_t>(absl::ToInt64Milliseconds(limit), 0);
  const bool ended = fd >= 0 && poll(&end, 1, static_cast<int>(wait_ms)) == 1;
  if (fd >= 0) close(fd);
  return ended;
}

// Own process group: Ctrl-C is this process's to hear, not the children's.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedFleet>> EmbeddedFleet::Start(
    const std::string& db_path, uint32_t agents, const Clock& clock) {
  ASSIGN_OR_RETURN(const std::string binary, AgentBinary());
  CoordinatorOptions options;
  options.listen = "127.0.0.1:0";
  options.db_path = db_path;
  options.resume_runs = false;
  ASSIGN_OR_RETURN(std::unique_ptr<Coordinator> coordinator,
                   Coordinator::Start(std::move(options), clock));
  std::unique_ptr<EmbeddedFleet> fleet(
      new EmbeddedFleet(std::move(coordinator)));
  for (uint32_t i = 1; i <= agents; ++i) {
    RETURN_IF_ERROR(fleet->StartAgent(binary, i));
  }
  return fleet;
}

// posix_spawn runs no fork handlers, so gRPC's threads do not matter.
absl::Status EmbeddedFleet::StartAgent(const std::string& binary,
                                       uint32_t number) {
  std::vector<std::string> arguments = {
      binary, absl::StrCat("--coordinator=", address()),
      absl::StrCat("--name=local-", number),
      absl::StrCat("--exit-with-parent=", getpid()), "--log-level=error"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const SpawnAttributes attributes;
  pid_t child = 0;
  const int error = posix_spawn(&child, binary.c_str(), nullptr,
                                attributes.get(), argv.data(), environ);
  if (error != 0) {
    return absl::InternalError(
        absl::StrCat("cannot start ", binary, ": ", std::strerror(error)));
  }
  children_.push_back(child);
  return absl::OkStatus();
}

EmbeddedFleet::~EmbeddedFleet() {
  for (pid_t child : children_) kill(child, SIGTERM);
  const RealClock clock;
  const Instant deadline = clock.Now() + kChildGrace;
  for (pid_t child : children_) {
    if (!EndsWithin(child, deadline - clock.Now())) kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace benchfleet
