#include "coordinator/store/database_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/coordinator/sample_run.h"

namespace benchfleet {
namespace {

TEST(DatabaseLockTest, SecondIsRefusedNamingTheProcess) {
  TempDir dir;
  const auto first = DatabaseLock::Acquire(dir.File("r.db"));
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = DatabaseLock::Acquire(dir.File("r.db"));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.status().message(),
              testing::HasSubstr("process " + std::to_string(getpid())));
}

TEST(DatabaseLockTest, AnotherNameOfTheFileIsTheSameLock) {
  TempDir dir;
  WriteFile(dir.File("r.db"), "");
  std::filesystem::create_symlink("r.db", dir.File("alias.db"));
  const auto first = DatabaseLock::Acquire(dir.File("r.db"));
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(DatabaseLock::Acquire(dir.File("alias.db")).ok());
}

TEST(DatabaseLockTest, ReleaseRemovesTheFileAndLetsTheNextIn) {
  TempDir dir;
  { ASSERT_TRUE(DatabaseLock::Acquire(dir.File("r.db")).ok()); }
  EXPECT_TRUE(dir.Names().empty());
  EXPECT_TRUE(DatabaseLock::Acquire(dir.File("r.db")).ok());
}

TEST(DatabaseLockTest, FileOfADeadProcessIsNoLock) {
  TempDir dir;
  WriteFile(dir.File("r.db.lock"), "99999\n");
  EXPECT_FALSE(DatabaseLock::IsHeld(dir.File("r.db")));
  EXPECT_TRUE(DatabaseLock::Acquire(dir.File("r.db")).ok());
}

TEST(DatabaseLockTest, IsHeldSeesTheHolderAndMakesNoFile) {
  TempDir dir;
  EXPECT_FALSE(DatabaseLock::IsHeld(dir.File("r.db")));
  EXPECT_TRUE(dir.Names().empty());
  const auto lock = DatabaseLock::Acquire(dir.File("r.db"));
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(DatabaseLock::IsHeld(dir.File("r.db")));
}

}  // namespace
}  // namespace benchfleet
