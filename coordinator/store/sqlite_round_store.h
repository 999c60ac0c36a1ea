// RoundStore in one SQLite file. At rest that file is all there is, and a copy
// of it is complete. While a coordinator has it open, -wal, -shm and .lock
// stand beside it; copy it then with
//   sqlite3 -readonly results.db "VACUUM INTO 'copy.db'"
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/store/round_store.h"

namespace benchfleet {

// Opens for writing: creates the file or migrates it to the newest schema.
// FailedPrecondition: the file's schema is newer, it is no database, or
// another coordinator has it. At most one writer per file, machine-wide.
absl::StatusOr<std::unique_ptr<RoundStore>> OpenRoundStore(
    const std::string& path);

// Opens for reading; never changes the file or leaves others beside it.
// NotFound: no such file. FailedPrecondition: newer schema or no database.
absl::StatusOr<std::unique_ptr<RoundStore>> OpenRoundStoreReadOnly(
    const std::string& path);

}  // namespace benchfleet
