// Command line flags of one program or verb, over getopt_long.
//
//   FlagSet flags("coordinator watch [RUN] [flags]", "Follows a run.");
//   flags.String("coordinator", &address, "HOST:PORT of a coordinator");
//   auto arguments = flags.Parse(argc, argv);  // what is no flag, in order
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace benchfleet {

// Thread-compatible; Parse at most once at a time in a process. Targets must
// outlive Parse and hold the defaults, which Help shows.
class FlagSet {
 public:
  FlagSet(std::string usage, std::string purpose);

  void String(std::string name, std::string* target, std::string help);
  // Whole decimal numbers up to `max`.
  void Uint(std::string name, uint64_t* target, std::string help,
            uint64_t max = UINT64_MAX);
  // --name, --name=true, --name=false.
  void Bool(std::string name, bool* target, std::string help);
  // As absl::ParseDuration: 10s, 1m30s; from `min` to 1000h.
  void Duration(std::string name, absl::Duration* target, std::string help,
                absl::Duration min = absl::ZeroDuration());

  // argv[0] is skipped. InvalidArgument: unknown flag, missing or bad value.
  // --help is a flag of every set: sets help_asked() and stops.
  absl::StatusOr<std::vector<std::string>> Parse(int argc, char* const* argv);
  bool help_asked() const { return help_asked_; }
  std::string Help() const;

 private:
  struct Flag {
    std::string name;
    std::string help;
    std::string default_text;
    bool is_bool;
    std::function<absl::Status(absl::string_view)> set;
  };
  void Add(Flag flag) { flags_.push_back(std::move(flag)); }

  std::string usage_;
  std::string purpose_;
  std::vector<Flag> flags_;
  bool help_asked_ = false;
};

}  // namespace benchfleet
