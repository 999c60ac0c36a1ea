// One writer per database file, machine-wide: `<file>.lock` is locked (an
// open-file-description lock) and names the writer's process while it lives.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace benchfleet {

class DatabaseLock {
 public:
  // FailedPrecondition: another has it; names its process.
  // PermissionDenied, NotFound: no lock file can be made there.
  static absl::StatusOr<DatabaseLock> Acquire(const std::string& database_path);
  DatabaseLock(DatabaseLock&& other) noexcept;
  DatabaseLock& operator=(DatabaseLock&&) = delete;
  // Removes the file, then unlocks.
  ~DatabaseLock();

  // Whether a writer lives. Takes no lock and makes no file.
  static bool IsHeld(const std::string& database_path);

 private:
  DatabaseLock(std::string lock_path, int fd);

  std::string lock_path_;
  int fd_;
};

}  // namespace benchfleet
