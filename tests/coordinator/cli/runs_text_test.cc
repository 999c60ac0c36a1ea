#include "coordinator/cli/runs_text.h"

#include <gtest/gtest.h>

#include "coordinator/report/run_summaries.h"
#include "coordinator/store/sqlite_round_store.h"
#include "tests/coordinator/measured_run.h"

namespace benchfleet {
namespace {

TEST(RunsTextTest, EachRunIsALine) {
  TempDir dir;
  auto store = OpenRoundStore(dir.File("r.db")).value();
  MeasureSampleRun(*store);
  ASSERT_TRUE(store->CreateRun(SampleRun()).ok());
  EXPECT_EQ(
      RunsText(Summaries(*store).value()),
      "RUN  STATE     VERDICT  ROUNDS  CREATED (UTC)        SUITE   MODEL\n"
      "1    finished  FAIL     4/4     2026-05-28 20:26:40  sample  "
      "m on vllm, llama\n"
      "2    queued    -        0/4     2026-05-28 20:26:40  sample  "
      "m on vllm, llama\n");
}

TEST(RunsTextTest, NoRunsAreSaid) { EXPECT_EQ(RunsText({}), "no runs\n"); }

}  // namespace
}  // namespace benchfleet
