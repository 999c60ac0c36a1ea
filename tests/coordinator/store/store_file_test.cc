// What stands in the directory: one file at rest, nothing changed by reading,
// nothing half-written on a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/sha256.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/sample_run.h"

namespace benchfleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string HashOf(const std::string& path) {
  return Sha256Hex(ReadFile(path));
}

int64_t WriteSample(const std::string& path) {
  auto store = OpenRoundStore(path);
  EXPECT_TRUE(store.ok()) << store.status();
  return (*store)->CreateRun(SampleRun()).value();
}

void ExecOn(const std::string& path, const std::string& sql) {
  auto db = Database::Open(path, Database::Mode::kReadWrite);
  ASSERT_TRUE(db.ok());
  ASSERT_TRUE((*db)->Exec(sql).ok());
}

TEST(StoreFileTest, OneFileRemainsAfterACleanClose) {
  TempDir dir;
  WriteSample(dir.File("r.db"));
  EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
  std::filesystem::copy_file(dir.File("r.db"), dir.File("copy.db"));
  EXPECT_EQ((*OpenRoundStoreReadOnly(dir.File("copy.db")))->Runs()->size(), 1u);
  EXPECT_THAT(dir.Names(), ElementsAre("copy.db", "r.db"));
}

TEST(StoreFileTest, ReadingAtRestChangesNothing) {
  TempDir dir;
  WriteSample(dir.File("r.db"));
  const std::string before = HashOf(dir.File("r.db"));
  {
    auto store = OpenRoundStoreReadOnly(dir.File("r.db"));
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->Runs()->size(), 1u);
    EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
    EXPECT_EQ((*store)->CreateRun(SampleRun()).status().code(),
              absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ((*store)->BeginEpoch().status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(HashOf(dir.File("r.db")), before);
}

TEST(StoreFileTest, LiveDatabaseIsReadWithWhatIsCommitted) {
  TempDir dir;
  auto writer = OpenRoundStore(dir.File("r.db"));
  ASSERT_TRUE(writer.ok());
  (void)(*writer)->CreateRun(SampleRun()).value();
  {
    auto reader = OpenRoundStoreReadOnly(dir.File("r.db"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->Runs()->size(), 1u);
    (void)(*writer)->CreateRun(SampleRun()).value();
    EXPECT_EQ((*reader)->Runs()->size(), 2u);
    EXPECT_TRUE((*writer)->Checkpoint().ok());
  }
  writer->reset();
  EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
}

// The documented copy of a live database: VACUUM INTO on a read-only
// connection.
TEST(StoreFileTest, LiveDatabaseCanBeCopiedWhole) {
  TempDir dir;
  auto writer = OpenRoundStore(dir.File("r.db")).value();
  (void)writer->CreateRun(SampleRun()).value();
  {
    auto db =
        Database::Open(dir.File("r.db"), Database::Mode::kReadOnly).value();
    ASSERT_TRUE(db->Exec("VACUUM INTO '" + dir.File("copy.db") + "'").ok());
  }
  EXPECT_EQ((*OpenRoundStoreReadOnly(dir.File("copy.db")))->Runs()->size(), 1u);
}

TEST(StoreFileTest, SecondWriterIsRefused) {
  TempDir dir;
  auto first = OpenRoundStore(dir.File("r.db"));
  ASSERT_TRUE(first.ok());
  auto second = OpenRoundStore(dir.File("r.db"));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.status().message(), HasSubstr("in use by process"));
}

// A copy of the main file alone, taken while the daemon ran, says WAL.
TEST(StoreFileTest, FileLeftInWalModeIsReadWithoutNewFiles) {
  TempDir dir;
  WriteSample(dir.File("r.db"));
  ExecOn(dir.File("r.db"), "PRAGMA journal_mode = WAL");
  const std::string before = HashOf(dir.File("r.db"));
  {
    auto store = OpenRoundStoreReadOnly(dir.File("r.db"));
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->Runs()->size(), 1u);
    EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
  }
  EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
  EXPECT_EQ(HashOf(dir.File("r.db")), before);
}

// The writer dies with its log: all it committed is read, before and after
// the next writer took over.
TEST(StoreFileTest, KilledWriterLosesNothing) {
  TempDir dir;
  const std::string path = dir.File("r.db");
  const pid_t child = fork();
  if (child == 0) {
    auto store = OpenRoundStore(path);
    if (store.ok()) (void)(*store)->CreateRun(SampleRun());
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(std::filesystem::exists(path + "-wal"));
  const auto names = dir.Names();
  const std::string before = HashOf(path) + HashOf(path + "-wal");
  EXPECT_EQ((*OpenRoundStoreReadOnly(path))->Runs()->size(), 1u);
  EXPECT_EQ(dir.Names(), names);
  std::filesystem::remove(path + "-shm");
  EXPECT_EQ((*OpenRoundStoreReadOnly(path))->Runs()->size(), 1u);
  EXPECT_THAT(dir.Names(),
              testing::IsSubsetOf({"r.db", "r.db-wal", "r.db.lock"}));
  EXPECT_EQ(HashOf(path) + HashOf(path + "-wal"), before);
  EXPECT_EQ((*OpenRoundStore(path))->Runs()->size(), 1u);
  EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
}

TEST(StoreFileTest, NewerSchemaIsRefusedWithoutChangingAByte) {
  for (const char* mode : {"delete", "wal"}) {
    TempDir dir;
    const std::string path = dir.File("r.db");
    WriteSample(path);
    ExecOn(path, std::string("PRAGMA user_version = 9999; "
                             "PRAGMA journal_mode = ") +
                     mode);
    const std::string before = HashOf(path);
    for (const auto& status : {OpenRoundStore(path).status(),
                               OpenRoundStoreReadOnly(path).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(), HasSubstr("9999"));
      EXPECT_THAT(status.message(), HasSubstr("knows up to"));
    }
    EXPECT_EQ(HashOf(path), before);
    EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
  }
}

TEST(StoreFileTest, WhatIsNoDatabaseIsRefusedClearly) {
  TempDir dir;
  WriteFile(dir.File("text.db"), std::string(5000, 'x'));
  WriteFile(dir.File("empty.db"), "");
  std::filesystem::create_directory(dir.File("folder.db"));
  struct Row {
    absl::Status status;
    const char* message;
  };
  const Row rows[] = {
      {OpenRoundStore(dir.File("text.db")).status(), "no SQLite database"},
      {OpenRoundStoreReadOnly(dir.File("text.db")).status(),
       "no SQLite database"},
      {OpenRoundStore(dir.File("folder.db")).status(), "is a directory"},
      {OpenRoundStoreReadOnly(dir.File("folder.db")).status(),
       "is a directory"},
      {OpenRoundStoreReadOnly(dir.File("none.db")).status(), "No such file"},
      {OpenRoundStore(dir.File("none/r.db")).status(), "no directory"},
      {OpenRoundStoreReadOnly(dir.File("empty.db")).status(), "no runs yet"},
      {OpenRoundStore("/proc/r.db").status(), "/proc/r.db"},
  };
  for (const Row& row : rows) {
    EXPECT_FALSE(row.status.ok());
    EXPECT_THAT(row.status.message(), HasSubstr(row.message));
  }
  EXPECT_EQ(OpenRoundStoreReadOnly(dir.File("none.db")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(dir.Names(), ElementsAre("empty.db", "folder.db", "text.db"));
  EXPECT_EQ(ReadFile(dir.File("text.db")), std::string(5000, 'x'));
}

// A database that may grow by n pages only fails at some write for each n;
// what was written before must be whole.
TEST(StoreFileTest, FullDatabaseLeavesNothingHalfWritten) {
  TempDir dir;
  const std::string path = dir.File("r.db");
  auto db = Database::Open(path, Database::Mode::kReadWrite).value();
  ASSERT_TRUE(db->Exec("CREATE TABLE t (x BLOB)").ok());
  ASSERT_TRUE(db->Exec("PRAGMA max_page_count = 20").ok());
  int committed = 0;
  absl::Status status;
  while (status.ok()) {
    auto transaction = Transaction::Begin(*db).value();
    for (int i = 0; i < 2 && status.ok(); ++i) {
      status =
          db->Run("INSERT INTO t VALUES (?)", Blob{std::string(3000, 'x')});
    }
    if (status.ok()) status = transaction.Commit();
    if (status.ok()) ++committed;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("no space"));
  EXPECT_THAT(status.message(), HasSubstr(path));
  EXPECT_FALSE(db->InTransaction());
  EXPECT_EQ(db->QueryInt("SELECT count(*) FROM t").value(), 2 * committed);
  EXPECT_EQ(db->QueryText("PRAGMA integrity_check").value(), "ok");
}

// Runs in a child whose files may not grow beyond `limit` bytes. Exits with
// the number of acked batches, or 100 if it got to no attempt.
void WriteUnderLimit(const std::string& path, rlim_t limit) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit files = {limit, limit};
  setrlimit(RLIMIT_FSIZE, &files);
  uint64_t acked = 0;
  {
    auto store = OpenRoundStore(path);
    if (!store.ok()) _exit(100);
    const auto epoch = (*store)->BeginEpoch();
    const auto run = (*store)->CreateRun(SampleRun());
    if (!epoch.ok() || !run.ok()) _exit(100);
    AttemptRow attempt =
        SampleAttempt((*store)->Rounds(*run).value()[0].id, *epoch);
    attempt.requests = 30;
    const auto id = (*store)->BeginAttempt(attempt, SampleShares());
    if (!id.ok()) _exit(100);
    for (uint64_t seq = 1; seq <= 6; ++seq) {
      std::vector<v1::RequestTiming> timings;
      for (uint32_t i = 0; i < 2; ++i) {
        timings.push_back(
            SampleTiming(static_cast<uint32_t>(2 * seq - 2) + i, 1, 1));
        timings.back().set_error(std::string(3000, 'e'));
      }
      const auto ack =
          (*store)->AppendTimings(SampleBatch(*id, *epoch, "a", seq, timings));
      if (!ack.ok()) break;
      acked = *ack;
    }
  }
  _exit(static_cast<int>(acked));
}

// A write fails at every place where one can.
TEST(StoreFileTest, FailedWriteAnywhereLosesNoAckAndHalvesNothing) {
  int most = 0;
  for (rlim_t limit = 0; limit <= 480 << 10; limit += 16 << 10) {
    SCOPED_TRACE(limit);
    TempDir dir;
    const std::string path = dir.File("r.db");
    const pid_t child = fork();
    if (child == 0) WriteUnderLimit(path, limit);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    const int acked = WEXITSTATUS(status);
    auto store = OpenRoundStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    const auto runs = (*store)->Runs().value();
    for (const RunRow& run : runs) {
      EXPECT_EQ((*store)->Rounds(run.id)->size(), 4u);
    }
    if (acked == 100) continue;
    most = std::max(most, acked);
    ASSERT_EQ(runs.size(), 1u);
    const auto timings = (*store)->Timings(1).value();
    EXPECT_EQ(timings.size(), static_cast<size_t>(2 * acked));
    for (const StoredTiming& stored : timings) {
      EXPECT_EQ(stored.timing.token_delta_ns_size(), 3);
    }
  }
  EXPECT_EQ(most, 6);
}

class Unmount {
 public:
  explicit Unmount(std::string path) : path_(std::move(path)) {}
  ~Unmount() { umount2(path_.c_str(), MNT_DETACH); }

 private:
  std::string path_;
};

// Needs root and tmpfs; the disk's own "no space" in WAL mode.
TEST(StoreFileTest, FullDiskKeepsEveryAckedBatch) {
  TempDir dir;
  if (mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs";
  }
  Unmount unmount(dir.path());
  const std::string path = dir.File("r.db");
  uint64_t acked = 0;
  int64_t attempt_id = 0;
  {
    auto store = OpenRoundStore(path).value();
    const uint64_t epoch = store->BeginEpoch().value();
    const int64_t run = store->CreateRun(SampleRun()).value();
    AttemptRow attempt = SampleAttempt(store->Rounds(run).value()[0].id, epoch);
    attempt.requests = 100000;
    attempt_id = store->BeginAttempt(attempt, SampleShares()).value();
    absl::Status status;
    while (status.ok()) {
      v1::RequestTiming timing =
          SampleTiming(static_cast<uint32_t>(acked), 1, 1);
      timing.set_error(std::string(20000, 'e'));
      const auto ack = store->AppendTimings(
          SampleBatch(attempt_id, epoch, "a", acked + 1, {timing}));
      status = ack.status();
      if (ack.ok()) acked = *ack;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(status.message(), HasSubstr("no space"));
  }
  EXPECT_GT(acked, 5u);
  EXPECT_EQ(mount("tmpfs", dir.path().c_str(), "tmpfs", MS_REMOUNT, "size=32m"),
            0);
  {
    auto store = OpenRoundStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->Timings(attempt_id)->size(), acked);
  }
  EXPECT_THAT(dir.Names(), ElementsAre("r.db"));
  EXPECT_EQ(Database::Open(path, Database::Mode::kReadOnly)
                .value()
                ->QueryText("PRAGMA integrity_check")
                .value(),
            "ok");
}

}  // namespace
}  // namespace benchfleet
