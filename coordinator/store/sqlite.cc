#include "coordinator/store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/status_macros.h"

namespace benchfleet {
namespace {

constexpr int kBusyTimeoutMs = 5000;

std::string ImmutableUri(const std::string& path) {
  return absl::StrCat(
      "file:",
      absl::StrReplaceAll(path, {{"%", "%25"}, {"?", "%3f"}, {"#", "%23"}}),
      "?immutable=1");
}

absl::Status MakeError(const std::string& path, int code, int system_errno,
                       absl::string_view detail) {
  const auto message = [&](absl::string_view what) {
    return absl::StrCat(path, ": ", what);
  };
  const int primary = code & 0xff;
  if (primary == SQLITE_FULL ||
      (primary == SQLITE_IOERR &&
       (system_errno == ENOSPC || system_errno == EDQUOT ||
        system_errno == EFBIG))) {
    return absl::ResourceExhaustedError(
        message("no space left on the disk; free some, then start again"));
  }
  switch (primary) {
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(message("out of memory"));
    case SQLITE_NOTADB:
      return absl::FailedPreconditionError(message("is no SQLite database"));
    case SQLITE_CORRUPT:
      return absl::DataLossError(
          message(absl::StrCat("the database is damaged: ", detail)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          message("locked by another program; end it, then start again"));
    case SQLITE_READONLY:
      return absl::FailedPreconditionError(message("cannot be written to"));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(
          message(absl::StrCat("cannot be opened: ", detail)));
    case SQLITE_CONSTRAINT:
      if (code == SQLITE_CONSTRAINT_UNIQUE ||
          code == SQLITE_CONSTRAINT_PRIMARYKEY) {
        return absl::AlreadyExistsError(message(detail));
      }
      return absl::InvalidArgumentError(message(detail));
    default:
      return absl::InternalError(message(absl::StrCat("SQLite: ", detail)));
  }
}

}  // namespace

// --- Statement ---

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

absl::StatusOr<bool> Statement::Step() {
  if (bind_error_ != SQLITE_OK) return database_->Error(bind_error_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  absl::Status error = database_->Error(code);
  sqlite3_reset(statement_);
  return error;
}

absl::Status Statement::Run() {
  absl::StatusOr<bool> row = true;
  while (row.ok() && *row) row = Step();
  Reset();
  return row.status();
}

void Statement::Reset() {
  sqlite3_reset(statement_);
  bind_error_ = SQLITE_OK;
}

void Statement::BindOne(int index, int64_t value) {
  bind_error_ |= sqlite3_bind_int64(statement_, index, value);
}

void Statement::BindOne(int index, double value) {
  bind_error_ |= sqlite3_bind_double(statement_, index, value);
}

void Statement::BindOne(int index, absl::string_view value) {
  // A null pointer would be NULL, not empty.
  bind_error_ |=
      sqlite3_bind_text64(statement_, index, value.empty() ? "" : value.data(),
                          value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::BindOne(int index, Blob value) {
  bind_error_ |= sqlite3_bind_blob64(
      statement_, index, value.bytes.empty() ? "" : value.bytes.data(),
      value.bytes.size(), SQLITE_TRANSIENT);
}

void Statement::BindOne(int index, std::nullopt_t) {
  bind_error_ |= sqlite3_bind_null(statement_, index);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::Real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::optional<double> Statement::OptionalReal(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Real(column);
}

absl::string_view Statement::View(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

// --- Database ---

Database::Database(std::string path, Mode mode, sqlite3* handle)
    : path_(std::move(path)), mode_(mode), handle_(handle) {}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                    : SQLITE_OPEN_READONLY;
  if (mode == Mode::kImmutable) flags |= SQLITE_OPEN_URI;
  const std::string name = mode == Mode::kImmutable ? ImmutableUri(path) : path;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(path, mode, handle));
  if (code != SQLITE_OK) return database->Error(code);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  RETURN_IF_ERROR(
      database->Exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0"));
  return database;
}

Database::~Database() {
  kept_.clear();
  sqlite3_close_v2(handle_);
}

absl::Status Database::Error(int code) const {
  if (handle_ == nullptr) return MakeError(path_, code, 0, "out of memory");
  return MakeError(path_, code, sqlite3_system_errno(handle_),
                   sqlite3_errmsg(handle_));
}

absl::Status Database::Exec(const std::string& sql) {
  const int code =
      sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Error(code);
  return absl::OkStatus();
}

absl::StatusOr<Statement> Database::Prepare(absl::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(
      handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return Error(code);
  return Statement(this, statement);
}

absl::StatusOr<Statement*> Database::Kept(absl::string_view sql) {
  const auto found = kept_.find(sql);
  if (found != kept_.end()) return found->second.get();
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  auto& kept = kept_[std::string(sql)];
  kept = std::make_unique<Statement>(std::move(statement));
  return kept.get();
}

absl::StatusOr<int64_t> Database::QueryInt(absl::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

absl::StatusOr<std::string> Database::QueryText(absl::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Text(0) : std::string();
}

int64_t Database::LastInsertId() const {
  return sqlite3_last_insert_rowid(handle_);
}

int64_t Database::Changes() const { return sqlite3_changes64(handle_); }

bool Database::InTransaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

// --- Transaction ---

absl::StatusOr<Transaction> Transaction::Begin(Database& database) {
  RETURN_IF_ERROR(database.Run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) Rollback();
}

absl::Status Transaction::Commit() {
  absl::Status status = database_->Run("COMMIT");
  if (!status.ok()) Rollback();
  database_ = nullptr;
  return status;
}

void Transaction::Rollback() {
  // Some errors, such as a full disk, have rolled back already.
  if (database_->InTransaction()) (void)database_->Run("ROLLBACK");
}

}  // namespace benchfleet
