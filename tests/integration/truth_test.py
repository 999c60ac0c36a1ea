"""Coordinator, 3 agents, 2 engines: what we report is what happened."""
import hashlib
import unittest

from fleet import (FleetTest, case, decode_varints, engine, percentile)

ENGINES, CASES, REPEATS = 2, 3, 3


class TruthTest(FleetTest):


    def start_fleet(self):
        _, sglang = self.sim("sglang", "sglang", 10)
        _, vllm = self.sim("vllm", "vllm", 10)
        _, address = self.coordinator()
        for name in ("a", "b", "c"):
            self.agent(address, name)
        self.agents_attached(address, 3)
        return sglang, vllm, address

    def run_suite(self, sglang, vllm, address):
        suite = self.suite(
            'name: "truth" model: "sim" repeats: 3 seed: 7\n'
            + engine("sglang", sglang, "SGLANG") + engine("vllm", vllm)
            + case("one", 1, 6, 32, 16) + case("four", 4, 24, 64, 12,
                                               "warmup_requests: 4")
            + case("seven", 7, 35, 16, 20, "endpoint: CHAT allow_wrong_length: true"))
        done = self.run_verb("submit", suite, f"--coordinator={address}",
                             "--min-agents=3")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_every_timing_agrees_with_the_engines(self):
        fleet = self.start_fleet()
        self.run_suite(*fleet)
        good = [self.check_run(1)]
        # A busy machine may spoil one run: then the median of three decides.
        while not (good[0] or len(good) == 3):
            self.run_suite(*fleet)
            good.append(self.check_run(len(good) + 1))
        self.assertTrue(good[0] or sum(good) == 2, "p99 errors over 1 ms")

    def check_run(self, run_id):
        """Facts must agree; returns whether the p99 time errors are small."""
        truth = self.truth("sglang", "vllm")
        rows = self.query(
            """SELECT r.*, t.deltas_ns, a.epoch, a.kind, p.repeat
               FROM requests r JOIN request_tokens t USING (attempt_id, ordinal)
               JOIN attempts a ON a.id = r.attempt_id
               JOIN rounds p ON p.id = a.round_id WHERE p.run_id = ?""", run_id)
        counted = [r for r in rows if r["kind"] == "COUNTED"]
        self.assertEqual(len(counted), ENGINES * REPEATS * (6 + 24 + 35))
        self.assertEqual(len(rows), len(counted) + ENGINES * REPEATS * 4)
        self.assertEqual(len(truth), run_id * len(rows), "one POST per record")

        ttft, itl, e2el = [], [], []
        for row in rows:
            real = truth[f"bf-{row['epoch']}-{row['attempt_id']}-{row['ordinal']}"]
            self.assertEqual(row["outcome"], "COMPLETED", row["error"])
            self.assertEqual(int(real["body_hash"], 16),
                             row["body_hash"] % (1 << 64))
            ours = decode_varints(row["deltas_ns"])
            tokens = real["token_ns"]
            self.assertEqual(len(ours), len(tokens))
            self.assertEqual(row["output_tokens"], len(tokens))
            # The engine's clock starts when it has read the request.
            ttft.append(ours[0] - (tokens[0] - real["arrival_ns"]))
            e2el.append(sum(ours) - (tokens[-1] - real["arrival_ns"]))
            itl += [abs(d - (b - a)) for d, a, b in zip(ours[1:], tokens, tokens[1:])]
        self.assertGreater(min(ttft), 0, "a stamp earlier than the arrival")
        self.check_rounds(run_id)
        small = True
        for name, errors in (("TTFT", ttft), ("E2EL", e2el), ("ITL", itl)):
            print(f"{name}: error p50 {percentile(errors, .5) / 1e3:.0f} us, "
                  f"p99 {percentile(errors, .99) / 1e3:.0f} us, n={len(errors)}")
            small = small and percentile(errors, .99) < 1e6
        return small

    def check_rounds(self, run_id):
        """Counts, totals and durations, from the raw records alone."""
        rounds = self.query(
            """SELECT m.*, p.id AS round_id, x.attempt_id, x.total_input_tokens,
                      x.request_set_sha256, x.agents
               FROM round_results x
               JOIN rounds p ON p.id = x.round_id AND p.run_id = ?
               JOIN engines e ON e.run_id = p.run_id AND e.position = p.engine
               JOIN cases c ON c.run_id = p.run_id AND c.position = p.case_position
               JOIN round_metrics m ON m.run_id = p.run_id AND m.engine = e.name
                 AND m.case_id = c.case_id AND m.repeat = p.repeat""", run_id)
        self.assertEqual(len(rounds), ENGINES * CASES * REPEATS)
        sets = {}
        for row in rounds:
            records = self.query(
                """SELECT r.*, s.clock_offset_ns FROM requests r JOIN shares s
                   USING (attempt_id, agent_id, instance_id)
                   WHERE attempt_id = ? ORDER BY ordinal""", row["attempt_id"])
            self.assertEqual(row["completed"], len(records))
            self.assertEqual(row["failed"], 0)
            self.assertEqual(row["total_output_tokens"],
                             sum(r["output_tokens"] for r in records))
            first = min(r["sent_ns"] + r["clock_offset_ns"] for r in records)
            last = max(r["end_ns"] + r["clock_offset_ns"] for r in records)
            self.assertEqual(row["duration"], (last - first) / 1e9)
            self.assertEqual(row["request_throughput"],
                             row["completed"] / row["duration"])
            self.check_in_flight(records, row["concurrency"])
            body = "".join(f"{r['ordinal']} {r['body_hash'] % (1 << 64):016x}\n"
                           for r in records)
            sets.setdefault((row["case_id"], row["repeat"]), set()).add(
                hashlib.sha256(body.encode()).hexdigest())
            self.assertEqual(row["agents"], min(3, row["concurrency"]))
        for repeat in range(1, REPEATS + 1):
            self.assertEqual(len(sets[("one", repeat)]), 1, "engines differ")

    def check_in_flight(self, records, concurrency):
        """Never more than C requests open, on one host's clock."""
        edges = sorted([(r["sent_ns"], 1) for r in records]
                       + [(r["end_ns"], -1) for r in records])
        open_now = most = 0
        for _, change in edges:
            open_now += change
            most = max(most, open_now)
        self.assertEqual(most, concurrency)


class RequestSetTest(FleetTest):

    def test_one_agent_or_three_send_the_same_requests(self):
        _, vllm = self.sim("vllm", "vllm", 4)
        suite = self.suite(
            'name: "same" model: "sim" repeats: 2 seed: 5\n'
            + engine("vllm", vllm) + case("c6", 6, 40, 16, 20))
        hashes, throughput = [], []
        for agents in (1, 3):
            db = self.folder / f"{agents}.db"
            done = self.run_verb("submit", suite, f"--db={db}",
                                 f"--local-agents={agents}")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = self.query("SELECT * FROM round_results ORDER BY round_id", db=db)
            self.assertEqual([r["agents"] for r in rows], [agents] * 2)
            hashes.append([r["request_set_sha256"] for r in rows])
            throughput.append(rows[0]["output_throughput"])
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0][0], hashes[0][1], "repeats differ")
        self.assertAlmostEqual(throughput[0] / throughput[1], 1, delta=0.1)


if __name__ == "__main__":
    unittest.main()
