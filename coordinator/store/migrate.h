// The schema's versions: numbered .sql files, embedded at build, never edited
// after release. A database's version is PRAGMA user_version.
#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "coordinator/store/sqlite.h"

namespace benchfleet {

struct Migration {
  int version;  // 1, 2, 3, ...
  const char* name;
  const char* sql;
};

// In order, as built in.
absl::Span<const Migration> SchemaMigrations();

// Applies what the database lacks, each in one transaction.
// REQUIRES: CheckSchema was fine.
absl::Status Migrate(Database& database,
                     absl::Span<const Migration> migrations);

enum class SchemaUse { kWrite, kRead };

// Writes nothing. FailedPrecondition: newer than `migrations`, of another
// program, or, for reading, empty or older.
absl::Status CheckSchema(Database& database,
                         absl::Span<const Migration> migrations, SchemaUse use);

}  // namespace benchfleet
