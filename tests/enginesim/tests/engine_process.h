// A real enginesim process, and a plain client to talk to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace benchfleet::enginesim {

class EngineProcess {
 public:
  // Null if it does not come up.
  static std::unique_ptr<EngineProcess> Start(std::vector<std::string> flags);
  ~EngineProcess();  // kills it

  uint16_t port() const { return port_; }
  // Sends a signal unless it is 0, waits, and returns the exit code, or minus
  // the signal that ended it.
  int Stop(int signal);

 private:
  explicit EngineProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  uint16_t port_ = 0;
};

// A connected TCP socket; -1 if refused.
int Connect(uint16_t port);
// Sends the bytes and reads to the end of the connection. A reset adds
// "<reset>".
std::string Exchange(uint16_t port, absl::string_view bytes);
// A request that asks for the connection's end after it.
std::string Get(absl::string_view path);
std::string Post(absl::string_view path, absl::string_view body,
                 absl::string_view headers = "");
// A response without its chunk framing.
std::string Dechunk(absl::string_view response);
size_t CountOf(absl::string_view text, absl::string_view part);

}  // namespace benchfleet::enginesim
