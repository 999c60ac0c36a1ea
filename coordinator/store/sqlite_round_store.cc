#include "coordinator/store/sqlite_round_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "coordinator/store/attempt_writer.h"
#include "coordinator/store/database_lock.h"
#include "coordinator/store/migrate.h"
#include "coordinator/store/run_writer.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/store_reader.h"
#include "coordinator/store/timing_reader.h"

namespace benchfleet {
namespace {

bool Exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

// Whether the header of a database in rest says write-ahead log.
bool HeaderSaysWal(const std::string& path) {
  FILE* file = fopen(path.c_str(), "rbe");
  if (file == nullptr) return false;
  unsigned char header[20] = {};
  const size_t size = fread(header, 1, sizeof(header), file);
  fclose(file);
  return size == sizeof(header) && header[18] == 2;
}

// The journal mode changes only while no other connection is open; readers
// are short, so it is worth some tries.
absl::Status SetJournalMode(Database& db, absl::string_view mode) {
  absl::StatusOr<std::string> got;
  for (int turn = 0; turn < 50; ++turn) {
    got = db.QueryText(absl::StrCat("PRAGMA journal_mode = ", mode));
    if (got.ok() && *got == mode) return absl::OkStatus();
    if (!got.ok() && !absl::IsUnavailable(got.status())) return got.status();
    absl::SleepFor(absl::Milliseconds(100));
  }
  if (!got.ok()) return got.status();
  return absl::UnavailableError(absl::StrCat(db.path(), ": journal mode stays ",
                                             *got, " instead of ", mode));
}

// Opens so that a file nobody writes stays alone: a database left in WAL mode
// without its log would get new -wal and -shm files from any plain reader.
absl::StatusOr<std::unique_ptr<Database>> OpenToRead(const std::string& path,
                                                     bool has_writer) {
  const bool alone =
      !has_writer && !Exists(absl::StrCat(path, "-wal")) && HeaderSaysWal(path);
  return Database::Open(
      path, alone ? Database::Mode::kImmutable : Database::Mode::kReadOnly);
}

// A reader of a log whose writer died without leaving a -shm makes one. Only
// under the writer's lock is it sure that nobody else needs it.
void RemoveShmOfReader(const std::string& path) {
  absl::StatusOr<DatabaseLock> lock = DatabaseLock::Acquire(path);
  if (lock.ok()) unlink(absl::StrCat(path, "-shm").c_str());
}

absl::Status CheckPath(const std::string& path, bool write) {
  // To SQLite an empty name is a database that vanishes at the end.
  if (path.empty()) {
    return absl::InvalidArgumentError("the name of the database is empty");
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT || !write) {
      const std::string message = absl::StrCat(path, ": ", strerror(errno));
      return errno == ENOENT ? absl::NotFoundError(message)
                             : absl::PermissionDeniedError(message);
    }
    const auto parent = std::filesystem::path(path).parent_path();
    if (!parent.empty() && !Exists(parent.string())) {
      return absl::NotFoundError(
          absl::StrCat(path, ": there is no directory ", parent.string()));
    }
    return absl::OkStatus();
  }
  if (S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a directory, not a database file"));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is no regular file"));
  }
  if (access(path.c_str(), write ? R_OK | W_OK : R_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

// Looks before anything is opened for writing: that would already change or
// roll forward a file that is then refused.
// REQUIRES: the caller has the lock.
absl::Status CheckSchemaToWrite(const std::string& path) {
  const bool had_shm = Exists(absl::StrCat(path, "-shm"));
  absl::Status status;
  {
    ASSIGN_OR_RETURN(std::unique_ptr<Database> db, OpenToRead(path, false));
    status = CheckSchema(*db, SchemaMigrations(), SchemaUse::kWrite);
  }
  if (!status.ok() && !had_shm) {
    unlink(absl::StrCat(path, "-shm").c_str());
  }
  return status;
}

// Which file a path names now; zeros if none.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  static FileId Of(const std::string& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return {};
    return {info.st_dev, info.st_ino};
  }
  friend bool operator==(const FileId&, const FileId&) = default;
};

class SqliteRoundStore final : public RoundStore {
 public:
  SqliteRoundStore(std::unique_ptr<Database> db,
                   std::optional<DatabaseLock> lock, bool remove_shm)
      : lock_(std::move(lock)),
        db_(std::move(db)),
        file_(FileId::Of(db_->path())),
        remove_shm_(remove_shm) {}

  // One file remains, readable without write permission in its directory.
  // Where that fails (full disk, a reader that stays), the log stays beside it
  // and holds everything that was committed.
  ~SqliteRoundStore() override {
    const std::string path = db_->path();
    if (db_->writable()) {
      (void)db_->Exec("PRAGMA wal_checkpoint(TRUNCATE)");
      (void)SetJournalMode(*db_, "delete");
    }
    db_.reset();
    if (remove_shm_) RemoveShmOfReader(path);
  }

  absl::Status Check(SchemaUse use) {
    return CheckSchema(*db_, SchemaMigrations(), use);
  }

  absl::StatusOr<uint64_t> BeginEpoch() override {
    RETURN_IF_ERROR(Writable());
    return WriteEpoch(*db_);
  }
  absl::StatusOr<int64_t> CreateRun(const NewRun& run) override {
    RETURN_IF_ERROR(Writable());
    return WriteRun(*db_, run);
  }
  absl::Status SetRunState(int64_t run_id, v1::RunState state,
                           absl::string_view verdict,
                           absl::Span<const std::string> reasons,
                           absl::Time now) override {
    RETURN_IF_ERROR(Writable());
    return WriteRunState(*db_, run_id, state, verdict, reasons, now);
  }
  absl::StatusOr<int64_t> BeginAttempt(
      const AttemptRow& attempt, absl::Span<const ShareRow> shares) override {
    RETURN_IF_ERROR(Writable());
    return WriteAttempt(*db_, attempt, shares);
  }
  absl::StatusOr<uint64_t> AppendTimings(
      const v1::TimingBatch& batch) override {
    RETURN_IF_ERROR(Writable());
    return WriteTimings(*db_, batch);
  }
  absl::Status FinishAttempt(const AttemptRow& attempt,
                             absl::Span<const ShareRow> shares,
                             absl::Span<const RuleRow> rules) override {
    RETURN_IF_ERROR(Writable());
    return WriteAttemptEnd(*db_, attempt, shares, rules);
  }
  absl::Status SetRoundState(int64_t round_id, RoundState state) override {
    RETURN_IF_ERROR(Writable());
    return WriteRoundState(*db_, round_id, state);
  }
  absl::Status StoreRoundResult(int64_t round_id,
                                const RoundResult& result) override {
    RETURN_IF_ERROR(Writable());
    return WriteRoundResult(*db_, round_id, result);
  }
  absl::Status UpsertAgent(const AgentRow& agent) override {
    RETURN_IF_ERROR(Writable());
    return WriteAgent(*db_, agent);
  }
  absl::Status Checkpoint() override {
    RETURN_IF_ERROR(Writable());
    return db_->Exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  absl::StatusOr<std::vector<RunRow>> Runs() override { return ReadRuns(*db_); }
  absl::StatusOr<RunRow> Run(int64_t run_id) override {
    return ReadRun(*db_, run_id);
  }
  absl::StatusOr<std::vector<EngineRow>> Engines(int64_t run_id) override {
    return ReadEngines(*db_, run_id);
  }
  absl::StatusOr<std::vector<CaseRow>> Cases(int64_t run_id) override {
    return ReadCases(*db_, run_id);
  }
  absl::StatusOr<std::vector<RoundRow>> Rounds(int64_t run_id) override {
    return ReadRounds(*db_, run_id);
  }
  absl::StatusOr<std::optional<RoundResult>> Result(int64_t round_id) override {
    return ReadResult(*db_, round_id);
  }
  absl::StatusOr<std::vector<AttemptRow>> Attempts(int64_t round_id) override {
    return ReadAttempts(*db_, round_id);
  }
  absl::StatusOr<std::vector<ShareRow>> Shares(int64_t attempt_id) override {
    return ReadShares(*db_, attempt_id);
  }
  absl::StatusOr<std::vector<RuleRow>> Rules(int64_t attempt_id) override {
    return ReadRules(*db_, attempt_id);
  }
  absl::StatusOr<std::vector<StoredTiming>> Timings(
      int64_t attempt_id) override {
    return ReadTimings(*db_, attempt_id);
  }
  absl::StatusOr<std::vector<AgentRow>> Agents() override {
    return ReadAgents(*db_);
  }
  absl::StatusOr<std::optional<int64_t>> FindImport(
      absl::string_view sha256) override {
    return ReadImport(*db_, sha256);
  }

 private:
  absl::Status Writable() const {
    if (!db_->writable()) {
      return absl::FailedPreconditionError(
          absl::StrCat(db_->path(), ": is open for reading only"));
    }
    // SQLite would go on writing to a file that nobody will find again.
    if (FileId::Of(db_->path()) == file_) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        db_->path(), ": was removed or replaced while it was in use"));
  }

  std::optional<DatabaseLock> lock_;  // outlives the connection
  std::unique_ptr<Database> db_;
  const FileId file_;
  bool remove_shm_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RoundStore>> OpenRoundStore(
    const std::string& path) {
  RETURN_IF_ERROR(CheckPath(path, true));
  ASSIGN_OR_RETURN(DatabaseLock lock, DatabaseLock::Acquire(path));
  if (Exists(path)) {
    RETURN_IF_ERROR(CheckSchemaToWrite(path));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Database> db,
                   Database::Open(path, Database::Mode::kReadWrite));
  RETURN_IF_ERROR(SetJournalMode(*db, "wal"));
  RETURN_IF_ERROR(db->Exec("PRAGMA synchronous = FULL"));
  RETURN_IF_ERROR(Migrate(*db, SchemaMigrations()));
  return std::unique_ptr<RoundStore>(
      new SqliteRoundStore(std::move(db), std::move(lock), false));
}

absl::StatusOr<std::unique_ptr<RoundStore>> OpenRoundStoreReadOnly(
    const std::string& path) {
  RETURN_IF_ERROR(CheckPath(path, false));
  const bool orphan_log =
      Exists(absl::StrCat(path, "-wal")) && !Exists(absl::StrCat(path, "-shm"));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> db,
                   OpenToRead(path, DatabaseLock::IsHeld(path)));
  auto store = std::make_unique<SqliteRoundStore>(std::move(db), std::nullopt,
                                                  orphan_log);
  RETURN_IF_ERROR(store->Check(SchemaUse::kRead));
  return std::unique_ptr<RoundStore>(std::move(store));
}

}  // namespace benchfleet
