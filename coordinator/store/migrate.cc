#include "coordinator/store/migrate.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

constexpr int64_t kApplicationId = 1111903820;  // as 0001 sets it

int64_t Newest(absl::Span<const Migration> migrations) {
  return migrations.empty() ? 0 : migrations.back().version;
}

absl::Status Apply(Database& database, const Migration& migration) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  RETURN_IF_ERROR(database.Exec(migration.sql));
  RETURN_IF_ERROR(
      database.Exec(absl::StrCat("PRAGMA user_version = ", migration.version)));
  return transaction.Commit();
}

}  // namespace

absl::Status Migrate(Database& database,
                     absl::Span<const Migration> migrations) {
  ASSIGN_OR_RETURN(const int64_t version,
                   database.QueryInt("PRAGMA user_version"));
  for (const Migration& migration : migrations) {
    if (migration.version <= version) continue;
    if (absl::Status status = Apply(database, migration); !status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat(status.message(), " (schema ", migration.name, ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSchema(Database& database,
                         absl::Span<const Migration> migrations,
                         SchemaUse use) {
  ASSIGN_OR_RETURN(const int64_t version,
                   database.QueryInt("PRAGMA user_version"));
  const int64_t newest = Newest(migrations);
  const auto refuse = [&](const auto&... what) {
    return absl::FailedPreconditionError(
        absl::StrCat(database.path(), ": ", what...));
  };
  if (version > newest) {
    return refuse("schema version ", version,
                  " is newer than this program, which knows up to ", newest,
                  "; use a newer benchfleet");
  }
  ASSIGN_OR_RETURN(const int64_t objects,
                   database.QueryInt("SELECT count(*) FROM sqlite_schema"));
  ASSIGN_OR_RETURN(const int64_t application,
                   database.QueryInt("PRAGMA application_id"));
  if (version == 0 && objects == 0) {
    if (use == SchemaUse::kWrite) return absl::OkStatus();
    return refuse("holds no runs yet (empty database)");
  }
  if (version <= 0 || application != kApplicationId) {
    return refuse("is a database of another program");
  }
  if (use == SchemaUse::kRead && version < newest) {
    return refuse("schema version ", version, " is older than ", newest,
                  "; any verb that writes, such as serve, migrates it");
  }
  return absl::OkStatus();
}

}  // namespace benchfleet
