#include "coordinator/cli/suite_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/plan/suite_parser.h"

namespace benchfleet {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

absl::StatusOr<std::string> ReadSuiteFile(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  if (S_ISDIR(facts.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is a directory; name the suite's file in it"));
  }
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  // One byte more than allowed tells a file that is too long.
  std::string text(kMaxSuiteBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get())) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  if (text.size() > kMaxSuiteBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is longer than a suite's ", kMaxSuiteBytes, " bytes (1 MiB)"));
  }
  return text;
}

}  // namespace benchfleet
