#include "coordinator/store/sqlite_round_store.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "tests/coordinator/sample_run.h"

namespace benchfleet {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

class RoundStoreTest : public testing::Test {
 protected:
  RoundStoreTest() { Reopen(); }
  void Reopen() {
    store_.reset();
    auto store = OpenRoundStore(dir_.File("r.db"));
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  // A run and one open attempt of its first round.
  void BeginSample() {
    epoch_ = store_->BeginEpoch().value();
    run_id_ = store_->CreateRun(SampleRun()).value();
    round_id_ = store_->Rounds(run_id_).value()[0].id;
    attempt_id_ =
        store_->BeginAttempt(SampleAttempt(round_id_, epoch_), SampleShares())
            .value();
  }
  v1::TimingBatch Batch(const std::string& agent, uint64_t seq,
                        uint32_t ordinal) {
    return SampleBatch(attempt_id_, epoch_, agent, seq,
                       {SampleTiming(ordinal, 1000, 10)});
  }
  absl::Status Finish(AttemptVerdict verdict) {
    AttemptRow attempt = SampleAttempt(round_id_, epoch_);
    attempt.id = attempt_id_;
    attempt.verdict = verdict;
    return store_->FinishAttempt(attempt, SampleShares(), {});
  }

  TempDir dir_;
  std::unique_ptr<RoundStore> store_;
  uint64_t epoch_ = 0;
  int64_t run_id_ = 0, round_id_ = 0, attempt_id_ = 0;
};

TEST_F(RoundStoreTest, RunComesBackAsItWasWritten) {
  const NewRun written = SampleRun();
  const int64_t id = store_->CreateRun(written).value();
  Reopen();
  const RunRow run = store_->Run(id).value();
  EXPECT_EQ(run.suite_name, "sample");
  EXPECT_EQ(run.suite_text, written.run.suite_text);
  EXPECT_EQ(run.seed, 0xfedcba9876543210);
  EXPECT_EQ(run.hardware, written.run.hardware);
  EXPECT_EQ(run.state, v1::QUEUED);
  EXPECT_EQ(run.created, written.run.created);
  EXPECT_EQ(run.finished, absl::UnixEpoch());
  EXPECT_FALSE(run.imported);
  const auto engines = store_->Engines(id).value();
  ASSERT_EQ(engines.size(), 2u);
  EXPECT_EQ(engines[1].name, "llama");
  EXPECT_TRUE(engines[1].insecure_skip_verify);
  const auto cases = store_->Cases(id).value();
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].warmup_requests, 1u);
  const auto rounds = store_->Rounds(id).value();
  ASSERT_EQ(rounds.size(), 4u);
  EXPECT_EQ(rounds[3].request_seed, 0xffffffffffffff03);
  EXPECT_EQ(rounds[3].engine, 1u);
  EXPECT_EQ(rounds[3].state, RoundState::kPending);
}

TEST_F(RoundStoreTest, RunZeroIsTheLatestAndAMissingOneSaysWhichThereAre) {
  EXPECT_EQ(store_->Run(0).status().code(), absl::StatusCode::kNotFound);
  (void)store_->CreateRun(SampleRun()).value();
  const int64_t second = store_->CreateRun(SampleRun()).value();
  EXPECT_EQ(store_->Run(0)->id, second);
  const absl::Status missing = store_->Run(77).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("no run 77; there are 2, 1"));
  EXPECT_THAT(missing.message(), HasSubstr("r.db"));
  EXPECT_EQ(store_->Runs()->size(), 2u);
}

TEST_F(RoundStoreTest, HalfAWrongRunIsNotWritten) {
  NewRun run = SampleRun();
  run.rounds[3].repeat = 1;  // taken by another round
  EXPECT_FALSE(store_->CreateRun(run).ok());
  run = SampleRun();
  run.rounds[3].engine = 9;
  EXPECT_FALSE(store_->CreateRun(run).ok());
  EXPECT_TRUE(store_->Runs()->empty());
}

TEST_F(RoundStoreTest, StateAndReasonsAreReplaced) {
  BeginSample();
  const std::vector<std::string> reasons = {"one", "two"};
  const absl::Time now = absl::FromUnixSeconds(1780000009);
  ASSERT_TRUE(store_->SetRunState(run_id_, v1::RUNNING, "", {}, now).ok());
  EXPECT_EQ(store_->Run(run_id_)->finished, absl::UnixEpoch());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(
        store_->SetRunState(run_id_, v1::FINISHED, "FAIL", reasons, now).ok());
  }
  const RunRow run = store_->Run(run_id_).value();
  EXPECT_EQ(run.reasons, reasons);
  EXPECT_EQ(run.verdict, "FAIL");
  EXPECT_EQ(run.finished, now);
  EXPECT_EQ(store_->SetRunState(99, v1::FINISHED, "", {}, now).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(RoundStoreTest, EveryFieldOfATimingComesBack) {
  BeginSample();
  v1::RequestTiming timing = SampleTiming(1, 5, 3);
  timing.set_outcome(v1::STREAM_ERROR);
  timing.add_flags(v1::WRONG_LENGTH);
  timing.add_flags(v1::NEW_CONNECTION);
  timing.set_error(std::string("bad \xff\0 text", 11));
  timing.add_chunk_tokens(2);
  timing.add_chunk_tokens(300);
  timing.set_coalesced(4);
  timing.set_dns_ns(5);
  timing.set_connect_ns(6);
  timing.set_tls_ns(7);
  timing.set_slot_turnaround_ns(8);
  timing.set_output_tokens(UINT64_MAX);
  v1::RequestTiming bare;
  bare.set_ordinal(0);
  bare.set_outcome(v1::CONNECT);
  bare.set_usage_prompt_tokens(0);  // told, and 0
  const auto batch = SampleBatch(attempt_id_, epoch_, "b", 1, {timing, bare});
  ASSERT_EQ(store_->AppendTimings(batch).value(), 1u);
  Reopen();
  const auto timings = store_->Timings(attempt_id_).value();
  ASSERT_EQ(timings.size(), 2u);  // by ordinal
  EXPECT_TRUE(MessageDifferencer::Equals(timings[0].timing, bare));
  EXPECT_TRUE(MessageDifferencer::Equals(timings[1].timing, timing));
  EXPECT_EQ(timings[1].agent_id, "b");
}

TEST_F(RoundStoreTest, RepeatedBatchIsANoOpAndAGapAnError) {
  BeginSample();
  EXPECT_EQ(store_->AppendTimings(Batch("a", 2, 0)).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(store_->AppendTimings(Batch("a", 0, 0)).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(store_->AppendTimings(Batch("a", 1, 0)).value(), 1u);
  EXPECT_EQ(store_->AppendTimings(Batch("b", 1, 1)).value(), 1u);
  auto empty = SampleBatch(attempt_id_, epoch_, "a", 2, {});
  EXPECT_EQ(store_->AppendTimings(empty).value(), 2u);
  EXPECT_EQ(store_->AppendTimings(Batch("a", 1, 0)).value(), 2u);
  EXPECT_EQ(store_->Timings(attempt_id_)->size(), 2u);
}

TEST_F(RoundStoreTest, ForeignBatchesAreRefusedWhole) {
  BeginSample();
  const auto code = [&](const v1::TimingBatch& batch) {
    return store_->AppendTimings(batch).status().code();
  };
  auto unknown_attempt = Batch("a", 1, 0);
  unknown_attempt.mutable_attempt()->set_attempt_id(99);
  EXPECT_EQ(code(unknown_attempt), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(Batch("stranger", 1, 0)),
            absl::StatusCode::kFailedPrecondition);
  auto other_epoch = Batch("a", 1, 0);
  other_epoch.mutable_attempt()->set_epoch(epoch_ + 1);
  EXPECT_EQ(code(other_epoch), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(Batch("a", 1, 2)), absl::StatusCode::kInvalidArgument);
  auto odd_outcome = Batch("a", 1, 0);
  odd_outcome.mutable_timings(0)->set_outcome(static_cast<v1::Outcome>(99));
  EXPECT_EQ(code(odd_outcome), absl::StatusCode::kInvalidArgument);
  auto twice = SampleBatch(attempt_id_, epoch_, "a", 1,
                           {SampleTiming(0, 1, 1), SampleTiming(0, 1, 1)});
  EXPECT_EQ(code(twice), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(store_->Timings(attempt_id_)->empty());
  EXPECT_EQ(store_->AppendTimings(Batch("a", 1, 0)).value(), 1u);
}

TEST_F(RoundStoreTest, ClosedAttemptTakesNothingNew) {
  BeginSample();
  ASSERT_EQ(store_->AppendTimings(Batch("a", 1, 0)).value(), 1u);
  ASSERT_TRUE(Finish(AttemptVerdict::kInvalid).ok());
  EXPECT_EQ(store_->AppendTimings(Batch("a", 2, 1)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->AppendTimings(Batch("a", 1, 0)).value(), 1u);
  EXPECT_EQ(Finish(AttemptVerdict::kValid).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(RoundStoreTest, FinishKeepsFactsOfSharesAndRules) {
  BeginSample();
  ASSERT_EQ(store_->AppendTimings(Batch("b", 1, 0)).value(), 1u);
  AttemptRow attempt = SampleAttempt(round_id_, epoch_);
  attempt.id = attempt_id_;
  attempt.verdict = AttemptVerdict::kInvalid;
  attempt.reason = "stall";
  attempt.start_skew_ns = -12;
  attempt.finished = absl::FromUnixSeconds(1780000010);
  auto shares = SampleShares();
  shares[1].first_sent_ns = 42;
  shares[1].manifest.set_records(1);
  shares[1].manifest.set_last_seq(1);
  shares[1].evidence.set_longest_stall_ns(400);
  const std::vector<RuleRow> rules = {{"longest_stall", "b", 400, 50, false},
                                      {"skew", "", 0.5, 1, true}};
  ASSERT_TRUE(store_->FinishAttempt(attempt, shares, rules).ok());
  const auto attempts = store_->Attempts(round_id_).value();
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0].number, 1u);
  EXPECT_EQ(attempts[0].verdict, AttemptVerdict::kInvalid);
  EXPECT_EQ(attempts[0].reason, "stall");
  EXPECT_EQ(attempts[0].start_skew_ns, -12);
  EXPECT_EQ(attempts[0].finished, attempt.finished);
  const auto stored = store_->Shares(attempt_id_).value();
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[1].first_sent_ns, 42);
  EXPECT_EQ(stored[1].evidence.longest_stall_ns(), 400u);
  EXPECT_EQ(stored[1].clock_offset_ns, 100'000'000'000);
  const auto got = store_->Rules(attempt_id_).value();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].rule, "longest_stall");
  EXPECT_FALSE(got[0].ok);
  EXPECT_EQ(store_->AppendTimings(Batch("b", 1, 0)).value(), 1u);
}

TEST_F(RoundStoreTest, NewEpochAbortsWhatWasOpen) {
  BeginSample();
  Reopen();
  EXPECT_EQ(store_->BeginEpoch().value(), epoch_ + 1);
  const auto attempts = store_->Attempts(round_id_).value();
  EXPECT_EQ(attempts[0].verdict, AttemptVerdict::kAborted);
  EXPECT_EQ(attempts[0].reason, "coordinator_restart");
  EXPECT_EQ(store_->AppendTimings(Batch("a", 1, 0)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const int64_t retry =
      store_->BeginAttempt(SampleAttempt(round_id_, epoch_ + 1), {}).value();
  EXPECT_NE(retry, attempt_id_);
  EXPECT_EQ(store_->Attempts(round_id_).value()[1].number, 2u);
}

TEST_F(RoundStoreTest, ResultNeedsAValidCountedAttempt) {
  BeginSample();
  RoundResult result;
  result.attempt_id = attempt_id_;
  result.completed = 2;
  result.source_sha256 = "abc";
  result.metrics[0] = 17.25;
  result.tokens_per_chunk = 1.5;
  result.agents = 2;
  EXPECT_EQ(store_->StoreRoundResult(round_id_, result).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(store_->Result(round_id_)->has_value());
  ASSERT_TRUE(Finish(AttemptVerdict::kValid).ok());
  ASSERT_TRUE(store_->StoreRoundResult(round_id_, result).ok());
  ASSERT_TRUE(store_->StoreRoundResult(round_id_, result).ok());
  const RoundResult got = store_->Result(round_id_)->value();
  EXPECT_EQ(got.attempt_id, attempt_id_);
  EXPECT_EQ(got.metrics, result.metrics);
  EXPECT_EQ(got.tokens_per_chunk, 1.5);
  EXPECT_EQ(got.duration_bound_s, std::nullopt);
  EXPECT_EQ(store_->Rounds(run_id_).value()[0].state, RoundState::kValid);
  result.metrics[1] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(store_->StoreRoundResult(round_id_, result).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Result(round_id_)->value().metrics, got.metrics);
}

TEST_F(RoundStoreTest, AgentsAreKeptByName) {
  AgentRow agent;
  agent.agent_id = "a";
  agent.host.set_hostname("host");
  agent.host.set_memory_bytes(UINT64_MAX);
  agent.last_seen = absl::FromUnixSeconds(5);
  ASSERT_TRUE(store_->UpsertAgent(agent).ok());
  agent.instance_id = "second";
  ASSERT_TRUE(store_->UpsertAgent(agent).ok());
  const auto agents = store_->Agents().value();
  ASSERT_EQ(agents.size(), 1u);
  EXPECT_EQ(agents[0].instance_id, "second");
  EXPECT_EQ(agents[0].host.memory_bytes(), UINT64_MAX);
  EXPECT_EQ(agents[0].last_seen, agent.last_seen);
}

}  // namespace
}  // namespace benchfleet
