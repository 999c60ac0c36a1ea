#include "coordinator/store/migrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/sample_run.h"

namespace benchfleet {
namespace {

using testing::HasSubstr;

constexpr Migration kOne = {1, "0001_a",
                            "PRAGMA application_id = 1111903820;"
                            "CREATE TABLE a (x INTEGER NOT NULL) STRICT;"};
constexpr Migration kTwo = {2, "0002_b",
                            "CREATE TABLE b (x INTEGER NOT NULL) STRICT;"
                            "INSERT INTO a VALUES (7);"};
constexpr Migration kBroken = {2, "0002_broken",
                               "CREATE TABLE b (x INTEGER NOT NULL) STRICT;"
                               "INSERT INTO nowhere VALUES (7);"};

std::unique_ptr<Database> OpenNew(const TempDir& dir) {
  return Database::Open(dir.File("m.db"), Database::Mode::kReadWrite).value();
}

TEST(MigrateTest, OldDatabaseGetsOnlyWhatItLacks) {
  TempDir dir;
  auto db = OpenNew(dir);
  ASSERT_TRUE(Migrate(*db, {kOne}).ok());
  ASSERT_TRUE(db->Exec("INSERT INTO a VALUES (5)").ok());
  ASSERT_TRUE(Migrate(*db, {kOne, kTwo}).ok());
  ASSERT_TRUE(Migrate(*db, {kOne, kTwo}).ok());
  EXPECT_EQ(db->QueryInt("SELECT sum(x) FROM a").value(), 12);
  EXPECT_EQ(db->QueryInt("PRAGMA user_version").value(), 2);
}

TEST(MigrateTest, FailedStepLeavesTheOldVersion) {
  TempDir dir;
  auto db = OpenNew(dir);
  ASSERT_TRUE(Migrate(*db, {kOne}).ok());
  const absl::Status status = Migrate(*db, {kOne, kBroken});
  EXPECT_THAT(status.message(), HasSubstr("0002_broken"));
  EXPECT_EQ(db->QueryInt("PRAGMA user_version").value(), 1);
  EXPECT_FALSE(db->Prepare("SELECT * FROM b").ok());
  EXPECT_TRUE(Migrate(*db, {kOne, kTwo}).ok());
}

TEST(MigrateTest, SchemaIsJudgedWithoutWriting) {
  struct Row {
    const char* setup;
    SchemaUse use;
    const char* message;  // null: fine
  };
  const Row rows[] = {
      {"", SchemaUse::kWrite, nullptr},
      {"", SchemaUse::kRead, "holds no runs yet"},
      {"PRAGMA user_version = 999", SchemaUse::kRead,
       "schema version 999 is newer than this program, which knows up to 2"},
      {"PRAGMA user_version = 999", SchemaUse::kWrite, "newer"},
      {"CREATE TABLE photos (x)", SchemaUse::kWrite, "another program"},
      {"CREATE TABLE photos (x); PRAGMA user_version = 1", SchemaUse::kWrite,
       "another program"},
      {"CREATE TABLE a (x); PRAGMA application_id = 1111903820;"
       "PRAGMA user_version = 1",
       SchemaUse::kRead, "schema version 1 is older than 2"},
      {"CREATE TABLE a (x); PRAGMA application_id = 1111903820;"
       "PRAGMA user_version = 1",
       SchemaUse::kWrite, nullptr},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.setup);
    TempDir dir;
    auto db = OpenNew(dir);
    ASSERT_TRUE(db->Exec(row.setup).ok());
    const absl::Status status = CheckSchema(*db, {kOne, kTwo}, row.use);
    if (row.message == nullptr) {
      EXPECT_TRUE(status.ok()) << status;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(), HasSubstr(row.message));
    }
  }
}

TEST(MigrateTest, BuiltInVersionsAreNumberedFromOne) {
  int expected = 1;
  for (const Migration& migration : SchemaMigrations()) {
    EXPECT_EQ(migration.version, expected++);
  }
  EXPECT_GT(expected, 1);
}

}  // namespace
}  // namespace benchfleet
