#include "coordinator/store/database_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace benchfleet {
namespace {

// Two names of one file must share one lock.
std::string LockPath(const std::string& database_path) {
  std::error_code error;
  const auto canonical =
      std::filesystem::weakly_canonical(database_path, error);
  return absl::StrCat(error ? database_path : canonical.string(), ".lock");
}

struct flock WholeFile(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string HolderOf(int fd) {
  char text[32];
  const ssize_t size = pread(fd, text, sizeof(text), 0);
  if (size <= 0) return "another process";
  return absl::StrCat(
      "process ",
      absl::StripSuffix(absl::string_view(text, static_cast<size_t>(size)),
                        "\n"));
}

// False if the file was removed or replaced between open and lock.
bool StillNamed(const std::string& path, int fd) {
  struct stat named {};
  struct stat opened {};
  return stat(path.c_str(), &named) == 0 && fstat(fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

absl::Status CannotCreate(const std::string& path, int error) {
  const std::string message =
      absl::StrCat(path, ": cannot create the lock file: ", strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(
        absl::StrCat(message, " (no space left on the disk)"));
  }
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  return absl::PermissionDeniedError(message);
}

}  // namespace

DatabaseLock::DatabaseLock(std::string lock_path, int fd)
    : lock_path_(std::move(lock_path)), fd_(fd) {}

DatabaseLock::DatabaseLock(DatabaseLock&& other) noexcept
    : lock_path_(std::move(other.lock_path_)),
      fd_(std::exchange(other.fd_, -1)) {}

DatabaseLock::~DatabaseLock() {
  if (fd_ < 0) return;
  unlink(lock_path_.c_str());
  close(fd_);
}

absl::StatusOr<DatabaseLock> DatabaseLock::Acquire(
    const std::string& database_path) {
  const std::string path = LockPath(database_path);
  // Each turn lost means that a holder just went away.
  for (int turn = 0; turn < 100; ++turn) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return CannotCreate(path, errno);
    struct flock lock = WholeFile(F_WRLCK);
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
      const std::string holder = HolderOf(fd);
      close(fd);
      return absl::FailedPreconditionError(
          absl::StrCat(database_path, ": in use by ", holder, " (lock file ",
                       path, "); one coordinator per database"));
    }
    if (StillNamed(path, fd)) {
      const std::string pid = absl::StrCat(getpid(), "\n");
      // Only for messages: a full disk must not stop a reader of old runs.
      if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, pid.data(), pid.size(), 0);
      return DatabaseLock(path, fd);
    }
    close(fd);
  }
  return absl::UnavailableError(
      absl::StrCat(path, ": the lock file keeps changing hands"));
}

bool DatabaseLock::IsHeld(const std::string& database_path) {
  const int fd = open(LockPath(database_path).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock = WholeFile(F_WRLCK);
  const bool held =
      fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return held;
}

}  // namespace benchfleet
