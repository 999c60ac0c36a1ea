// A child process that serves a test and prints its port.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace benchfleet {

// Killed and reaped at the end.
class ChildProcess {
 public:
  // `command` is looked up in PATH.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Next line of its standard output; "" when that is closed.
  std::string ReadLine();
  // The number after "port " in the next line; 0 if there is none.
  int ReadPort();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

}  // namespace benchfleet
