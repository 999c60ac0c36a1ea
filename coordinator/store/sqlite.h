// SQLite as this program uses it: a connection, statements, transactions.
// Every error is a Status that names the database file:
//   ResourceExhausted   no space (disk full), out of memory
//   FailedPrecondition  no database, read-only, schema trouble
//   PermissionDenied    may not be opened
//   Unavailable         locked by another for longer than the busy timeout
//   AlreadyExists       a unique key is taken
//   DataLoss            the file is damaged
//   Internal            the rest
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace benchfleet {

class Database;

struct Blob {
  absl::string_view bytes;
};

// A prepared statement. Must not outlive its Database.
//
//   ASSIGN_OR_RETURN(Statement rows, db.Prepare("SELECT a FROM t WHERE b =
//   ?")); rows.Bind(7); while (true) {
//     ASSIGN_OR_RETURN(const bool row, rows.Step());
//     if (!row) break;
//     use(rows.Int(0));
//   }
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Values of all parameters, in order; copied. Starts the statement anew.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    Reset();
    int index = 0;
    (BindOne(++index, values), ...);
    return *this;
  }
  // True: a row is there, and its columns may be read until the next step.
  absl::StatusOr<bool> Step();
  // Steps to the end and resets.
  absl::Status Run();
  void Reset();

  // Columns from 0.
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  uint64_t Uint(int column) const { return static_cast<uint64_t>(Int(column)); }
  uint32_t Uint32(int column) const {
    return static_cast<uint32_t>(Int(column));
  }
  bool Bool(int column) const { return Int(column) != 0; }
  double Real(int column) const;
  std::optional<double> OptionalReal(int column) const;
  // Text or blob. Valid until the next step.
  absl::string_view View(int column) const;
  std::string Text(int column) const { return std::string(View(column)); }

 private:
  friend class Database;
  Statement(const Database* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}

  void BindOne(int index, int64_t value);
  void BindOne(int index, uint64_t value) {
    BindOne(index, static_cast<int64_t>(value));
  }
  void BindOne(int index, int value) {
    BindOne(index, static_cast<int64_t>(value));
  }
  void BindOne(int index, uint32_t value) {
    BindOne(index, static_cast<int64_t>(value));
  }
  void BindOne(int index, bool value) {
    BindOne(index, static_cast<int64_t>(value));
  }
  // NaN is stored as NULL.
  void BindOne(int index, double value);
  void BindOne(int index, absl::string_view value);
  void BindOne(int index, const std::string& value) {
    BindOne(index, absl::string_view(value));
  }
  void BindOne(int index, const char* value) {
    BindOne(index, absl::string_view(value));
  }
  void BindOne(int index, Blob value);
  void BindOne(int index, std::nullopt_t);
  template <typename Value>
  void BindOne(int index, const std::optional<Value>& value) {
    value ? BindOne(index, *value) : BindOne(index, std::nullopt);
  }

  const Database* database_;
  sqlite3_stmt* statement_;
  int bind_error_ = 0;
};

// One connection. Thread-compatible.
class Database {
 public:
  enum class Mode {
    kReadWrite,  // creates the file
    kReadOnly,
    // For a file that nobody writes: no locks, no other files.
    kImmutable,
  };
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  bool writable() const { return mode_ == Mode::kReadWrite; }

  // One or more statements without parameters.
  absl::Status Exec(const std::string& sql);
  absl::StatusOr<Statement> Prepare(absl::string_view sql);
  // The same, prepared once and kept. `sql` must live as long as this.
  absl::StatusOr<Statement*> Kept(absl::string_view sql);
  // Runs a kept statement that yields no rows.
  template <typename... Values>
  absl::Status Run(absl::string_view sql, const Values&... values) {
    auto statement = Kept(sql);
    if (!statement.ok()) return std::move(statement).status();
    return (*statement)->Bind(values...).Run();
  }
  // First column of the first row.
  absl::StatusOr<int64_t> QueryInt(absl::string_view sql);
  absl::StatusOr<std::string> QueryText(absl::string_view sql);

  int64_t LastInsertId() const;
  int64_t Changes() const;
  bool InTransaction() const;

  // Error of `code`, an SQLite result code.
  absl::Status Error(int code) const;

 private:
  Database(std::string path, Mode mode, sqlite3* handle);

  std::string path_;
  Mode mode_;
  sqlite3* handle_;
  absl::flat_hash_map<std::string, std::unique_ptr<Statement>> kept_;
};

// Rolls back unless committed.
class Transaction {
 public:
  static absl::StatusOr<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // A failed commit is rolled back.
  absl::Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  void Rollback();

  Database* database_;
};

}  // namespace benchfleet
