// report, import and export-raw as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sha256.h"
#include "coordinator/cli/exit_codes.h"
#include "coordinator/cli/export_raw.h"
#include "coordinator/cli/import.h"
#include "coordinator/cli/report.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/measured_run.h"

namespace benchfleet {
namespace {

using testing::HasSubstr;

struct Outcome {
  int code;
  std::string out, err;
};

Outcome Call(int (*verb)(int, char* const*), std::vector<std::string> arguments) {
  std::vector<char*> argv = {const_cast<char*>("verb")};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = verb(static_cast<int>(argv.size()) - 1, argv.data());
  const std::string out = testing::internal::GetCapturedStdout();
  return {code, out, testing::internal::GetCapturedStderr()};
}

class ReadingVerbsTest : public testing::Test {
 protected:
  std::string Db() const { return "--db=" + dir_.File("r.db"); }
  TempDir dir_;
};

TEST_F(ReadingVerbsTest, ImportThenReportGivesTheSameBytes) {
  const std::string file = TESTS_SOURCE_DIR "/testdata/reference.json";
  const Outcome import = Call(RunImport, {file, Db()});
  EXPECT_EQ(import.code, kExitPass) << import.err;
  EXPECT_THAT(import.out, HasSubstr("run 1 in "));
  EXPECT_THAT(Call(RunImport, {file, Db()}).out, HasSubstr("run 1 in "));
  const Outcome report = Call(RunReport, {"--format=json", Db()});
  EXPECT_EQ(report.code, kExitPass);
  EXPECT_TRUE(report.out == ReadFile(file));
  EXPECT_THAT(dir_.Names(), testing::ElementsAre("r.db"));
}

TEST_F(ReadingVerbsTest, ReportSaysWhatIsWrong) {
  struct Row {
    std::vector<std::string> arguments;
    int code;
    const char* message;
  };
  const Row before[] = {
      {{Db()}, kExitCouldNotRun, "r.db: No such file"},
      {{Db(), "--format=xml"}, kExitUsage, "text, json, csv or md"},
      {{Db(), "x"}, kExitUsage, "expected a number"},
      {{Db(), "0"}, kExitUsage, "expected a number"},
      {{Db(), "1", "2"}, kExitUsage, "at most one RUN"},
      {{"--wrong"}, kExitUsage, "unknown flag"},
  };
  for (const Row& row : before) {
    const Outcome outcome = Call(RunReport, row.arguments);
    EXPECT_EQ(outcome.code, row.code);
    EXPECT_THAT(outcome.err, HasSubstr(row.message));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(dir_.Names().empty());
  MeasureSampleRun(*OpenRoundStore(dir_.File("r.db")).value());
  const Outcome unknown = Call(RunReport, {Db(), "7"});
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.err, HasSubstr("there is no run 7; there are 1"));
  EXPECT_EQ(Call(RunReport, {Db(), "1"}).code, kExitPass);
}

TEST_F(ReadingVerbsTest, ImportOfABadFileMakesNoDatabase) {
  WriteFile(dir_.File("bad.json"), "{\"rows\": NaN}");
  const Outcome bad = Call(RunImport, {dir_.File("bad.json"), Db()});
  EXPECT_EQ(bad.code, kExitUsage);
  EXPECT_THAT(bad.err, HasSubstr("bad.json is refused:\nline 1: NaN"));
  EXPECT_EQ(Call(RunImport, {dir_.File("none.json"), Db()}).code,
            kExitCouldNotRun);
  EXPECT_EQ(Call(RunImport, {Db()}).code, kExitUsage);
  EXPECT_THAT(dir_.Names(), testing::ElementsAre("bad.json"));
}

TEST_F(ReadingVerbsTest, NewerDatabaseIsLeftAloneByEveryVerb) {
  MeasureSampleRun(*OpenRoundStore(dir_.File("r.db")).value());
  ASSERT_TRUE(Database::Open(dir_.File("r.db"), Database::Mode::kReadWrite)
                  .value()
                  ->Exec("PRAGMA user_version = 9999")
                  .ok());
  const std::string before = ReadFile(dir_.File("r.db"));
  const std::string file = TESTS_SOURCE_DIR "/testdata/reference.json";
  for (const Outcome& outcome :
       {Call(RunReport, {Db()}), Call(RunImport, {file, Db()}),
        Call(RunExportRaw, {Db(), "--engine=vllm", "--case=short-c2"})}) {
    EXPECT_EQ(outcome.code, kExitCouldNotRun);
    EXPECT_THAT(outcome.err, HasSubstr("9999 is newer"));
  }
  EXPECT_TRUE(ReadFile(dir_.File("r.db")) == before);
  EXPECT_THAT(dir_.Names(), testing::ElementsAre("r.db"));
}

TEST_F(ReadingVerbsTest, ExportedArtifactHasTheHashOfItsRow) {
  MeasureSampleRun(*OpenRoundStore(dir_.File("r.db")).value());
  const Outcome raw = Call(
      RunExportRaw, {Db(), "--engine=vllm", "--case=short-c2", "--repeat=2"});
  EXPECT_EQ(raw.code, kExitPass) << raw.err;
  EXPECT_THAT(Call(RunReport, {Db(), "--format=json"}).out,
              HasSubstr("\"source_sha256\": \"" + Sha256Hex(raw.out) + "\""));
  EXPECT_EQ(Call(RunExportRaw, {Db(), "--engine=vllm"}).code, kExitUsage);
  EXPECT_EQ(Call(RunExportRaw, {Db(), "--engine=vllm", "--case=none"}).code,
            kExitUsage);
}

}  // namespace
}  // namespace benchfleet
