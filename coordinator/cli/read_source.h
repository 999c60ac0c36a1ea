// Where a reading verb reads: a database file or a running coordinator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flags.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// --coordinator wins, then --db, then BENCHFLEET_COORDINATOR, then results.db.
struct ReadSource {
  std::string db;
  std::string coordinator;

  void AddFlags(FlagSet& flags);
  // Call after Parse.
  void Resolve();
  bool is_coordinator() const { return !coordinator.empty(); }
  // Never NotFound: a missing file is FailedPrecondition, so that it is told
  // apart from a run that is not in it.
  absl::StatusOr<std::unique_ptr<RoundStore>> OpenDb() const;
};

// What a reading verb was called with.
struct ReadingCall {
  ReadSource source;
  std::vector<std::string> rest;
  // --help was asked for and printed.
  bool help = false;
};

// `flags` holds the verb's own flags; those of ReadSource are added.
absl::StatusOr<ReadingCall> ParseReadingCall(const std::string& verb,
                                             FlagSet flags, int argc,
                                             char* const* argv);

// A run's number among the arguments, or 0 for the latest. InvalidArgument:
// more than one argument, or no number.
absl::StatusOr<int64_t> RunArgument(const std::vector<std::string>& arguments);

}  // namespace benchfleet
