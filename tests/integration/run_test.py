"""The verbs and the life of runs, with real processes."""
import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest

from fleet import BIN, ROOT, FleetTest, case, engine, wait_for

PASS, FAIL, USAGE, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 3, 130


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(p) for p in f.read().split()]


class EmbeddedTest(FleetTest):

    def small_suite(self, url, requests=12, outputs=8):
        return self.suite('name: "small" model: "sim" repeats: 2 seed: 1\n'
                          + engine("vllm", url) + case("c3", 3, requests, 16, outputs))

    def test_submit_alone_runs_reports_and_leaves_one_file(self):
        _, url = self.sim("vllm")
        done = self.run_verb("submit", self.small_suite(url))
        self.assertEqual(done.returncode, PASS, done.stderr)
        self.assertIn("run 1: 2 rounds, 24 requests, seed 1", done.stderr)
        self.assertIn("PASS", done.stdout)
        self.assertEqual([p.name for p in self.folder.glob("results.db*")],
                         ["results.db"])
        again = self.run_verb("report", "--format=json")
        report = json.loads(again.stdout)
        self.assertEqual(report["status"], "PASS")
        self.assertEqual(report["counted_requests"], 24)
        self.assertEqual(len(report["rows"]), 2)
        copy = self.folder / "copy.db"
        copy.write_bytes(self.db.read_bytes())
        self.assertEqual(
            self.run_verb("report", "--format=json", f"--db={copy}").stdout,
            again.stdout)

    def start_long_run(self):
        _, url = self.sim("vllm", "vllm", 1)
        submit = self.start("submit", BIN / "coordinator", "submit",
                            self.small_suite(url, 200, 200), f"--db={self.db}")
        wait_for("load", lambda: "requests" in submit.err.read_text()
                 and "[0/2]" in submit.err.read_text())
        agents = wait_for("agents", lambda: children(submit.child.pid))
        self.assertEqual(len(agents), 2)
        return submit, agents

    def test_interrupt_cancels_and_no_child_is_left(self):
        submit, agents = self.start_long_run()
        submit.kill(signal.SIGINT)
        self.assertEqual(submit.wait(15), INTERRUPTED)
        self.assertFalse([p for p in agents if alive(p)])
        self.assertIn("cancelled", self.run_verb("runs", f"--db={self.db}").stdout)
        attempts = self.query("SELECT * FROM attempts")
        self.assertEqual([a["verdict"] for a in attempts], ["ABORTED"])

    def test_kill_9_leaves_no_child_and_a_readable_file(self):
        submit, agents = self.start_long_run()
        submit.kill()
        wait_for("the children's end",
                 lambda: not [p for p in agents if alive(p)], 10)
        self.assertEqual(self.run_verb("runs", f"--db={self.db}").returncode, 0)
        self.assertEqual(
            self.query("PRAGMA integrity_check")[0][0], "ok")
        # The next own coordinator closes the broken run and works.
        _, url = self.sim("next")
        done = self.run_verb("submit", self.small_suite(url), f"--db={self.db}")
        self.assertEqual(done.returncode, PASS, done.stderr)
        states = [r["state"] for r in self.query("SELECT state FROM runs")]
        self.assertEqual(states, ["COULD_NOT_RUN", "FINISHED"])


    def test_llamacpp_gets_a_new_connection_for_each_request(self):
        _, url = self.sim("llama", "llamacpp")
        for more, new in (("", 12), ("connection_reuse: REUSE", 0)):
            suite = self.suite('name: "l" model: "sim" repeats: 1 seed: 1\n'
                               + engine("llama", url, "LLAMACPP", more)
                               + case("c3", 3, 12))
            done = self.run_verb("submit", suite)
            self.assertEqual(done.returncode, PASS, done.stderr)
            row = self.query("SELECT * FROM round_results ORDER BY round_id DESC")[0]
            self.assertEqual((row["completed"], row["new_connections"]), (12, new))


class FleetVerbsTest(FleetTest):

    def test_detach_watch_runs_agents_cancel(self):
        _, url = self.sim("vllm", "vllm", 2)
        _, address = self.coordinator()
        self.agent(address, "a", "--weight=2", "--max-concurrency=50")
        self.agent(address, "b")
        self.agents_attached(address, 2)
        at = f"--coordinator={address}"
        suite = self.suite('name: "s" model: "sim" repeats: 1 seed: 1\n'
                           + engine("vllm", url) + case("c3", 3, 9))
        first = self.run_verb("submit", suite, at, "--detach")
        self.assertEqual((first.returncode, first.stdout), (PASS, "1\n"), first.stderr)
        watched = self.run_verb("watch", "1", at)
        self.assertEqual(watched.returncode, PASS, watched.stderr)
        self.assertIn("c3", watched.stdout)
        self.assertEqual(self.run_verb("watch", "1", at).returncode, PASS)

        long_suite = self.suite('name: "long" model: "sim" repeats: 3 seed: 1\n'
                                + engine("vllm", url) + case("c3", 3, 900, 16, 300),
                                name="long.pb.txt")
        self.assertEqual(self.run_verb("submit", long_suite, at, "--detach").stdout, "2\n")
        queued = self.run_verb("submit", suite, at, "--detach")
        self.assertEqual(queued.stdout, "3\n")
        wait_for("run 2", lambda: "run 2" in self.run_verb("agents", at).stdout)
        self.assertEqual(self.run_verb("cancel", "2", at).returncode, PASS)
        self.assertEqual(self.run_verb("watch", "2", at).returncode, INTERRUPTED)
        self.assertEqual(self.run_verb("cancel", "2", at).returncode, PASS)
        self.assertEqual(self.run_verb("watch", "3", at).returncode, PASS)
        listed = self.run_verb("runs", at).stdout
        self.assertEqual(listed, self.run_verb("runs", f"--db={self.db}").stdout)
        for word in ("PASS", "cancelled", "long"):
            self.assertIn(word, listed)
        self.assertEqual(self.run_verb("report", "3", at).stdout,
                         self.run_verb("report", "3", f"--db={self.db}").stdout)
        self.assertEqual(self.run_verb("cancel", "77", at).returncode, USAGE)

    def test_a_lost_agent_aborts_the_attempt_and_the_rest_does_it_anew(self):
        _, url = self.sim("vllm", "vllm", 4)
        _, address = self.coordinator()
        agents = [self.agent(address, name) for name in "abc"]
        self.agents_attached(address, 3)
        suite = self.suite('name: "lost" model: "sim" repeats: 1 seed: 1\n'
                           + engine("vllm", url) + case("c6", 6, 60, 16, 200))
        at = f"--coordinator={address}"
        self.run_verb("submit", suite, at, "--detach")
        wait_for("load", lambda: self.query("SELECT count(*) FROM requests")[0][0] > 3)
        agents[1].kill()
        done = self.run_verb("watch", "1", at)
        self.assertEqual(done.returncode, PASS, done.stderr)
        attempts = self.query("SELECT * FROM attempts ORDER BY id")
        self.assertEqual([a["verdict"] for a in attempts], ["ABORTED", "VALID"])
        self.assertIn("agent_lost: b", attempts[0]["reason"])
        shares = self.query("SELECT concurrency FROM shares WHERE attempt_id = ?",
                            attempts[1]["id"])
        self.assertEqual([s["concurrency"] for s in shares], [3, 3])
        row = self.query("SELECT * FROM round_results")[0]
        self.assertEqual((row["completed"], row["failed"], row["agents"]), (60, 0, 2))
        self.assertIn("agent_lost: b", done.stdout)

    def test_a_run_goes_on_after_the_coordinator_was_killed(self):
        _, url = self.sim("vllm", "vllm", 4)
        coordinator, address = self.coordinator()
        for name in "ab":
            self.agent(address, name)
        self.agents_attached(address, 2)
        suite = self.suite('name: "restart" model: "sim" repeats: 3 seed: 1\n'
                           + engine("vllm", url) + case("c4", 4, 24, 16, 150))
        self.run_verb("submit", suite, f"--coordinator={address}", "--detach")
        wait_for("round 2", lambda: self.query(
            "SELECT count(*) FROM round_results")[0][0] == 1)
        coordinator.kill()
        coordinator.wait()
        self.coordinator(name="coordinator2", listen=address)
        done = self.run_verb("watch", "1", f"--coordinator={address}")
        self.assertEqual(done.returncode, PASS, done.stderr)
        verdicts = [a["verdict"] for a in
                    self.query("SELECT verdict FROM attempts ORDER BY id")]
        self.assertEqual(verdicts.count("VALID"), 3)
        for reason in self.query("SELECT reason FROM attempts WHERE verdict = 'ABORTED'"):
            self.assertIn("coordinator_restart", reason["reason"])

    def test_two_agents_with_one_name(self):
        _, address = self.coordinator()
        first = self.agent(address, "twin")
        self.agents_attached(address, 1)
        second = self.start("second", BIN / "agent", f"--coordinator={address}",
                            "--name=twin")
        said = wait_for("the refusal", lambda: "is connected from host" in
                        second.err.read_text() and second.err.read_text())
        self.assertIn('"twin"', said)
        first.kill()
        wait_for("the second's turn",
                 lambda: "attached to" in second.err.read_text(), 15)

    def test_a_second_coordinator_on_database_or_port_is_refused(self):
        _, address = self.coordinator()
        done = self.run_verb("serve", f"--db={self.db}", "--listen=127.0.0.1:0")
        self.assertEqual(done.returncode, COULD_NOT_RUN)
        self.assertIn(str(self.db), done.stderr)
        done = self.run_verb("serve", f"--db={self.folder}/other.db",
                             f"--listen={address}")
        self.assertEqual(done.returncode, COULD_NOT_RUN)
        self.assertIn(address, done.stderr)


class BadInputTest(FleetTest):

    def refuse(self, code, *arguments, says):
        done = self.run_verb(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in says if isinstance(says, (list, tuple)) else [says]:
            self.assertIn(text, done.stderr)
        return done

    def test_a_bad_suite_is_refused_before_anything_is_made(self):
        suite = self.suite('name: "x"\nmodle: "m"\nrepeats: 0\n')
        for verb in ("check", "submit"):
            done = self.refuse(USAGE, verb, suite, says="suite.pb.txt:2:1")
            self.assertIn("repeats", done.stderr)
        self.assertFalse(self.db.exists())

    def test_usage(self):
        self.refuse(USAGE, says="usage")
        self.refuse(USAGE, "nonsense", says="nonsense")
        self.refuse(USAGE, "submit", says="suite file")
        self.refuse(USAGE, "submit", "a", "--detahc", says="--detahc")
        self.refuse(USAGE, "submit", self.folder, says=str(self.folder))
        self.refuse(USAGE, "submit", self.folder / "none.pb.txt", says="none.pb.txt")

    def good_suite(self, url, more=""):
        return self.suite('name: "g" model: "sim" repeats: 1 seed: 1\n'
                          + engine("vllm", url) + case("c2", 2, 8) + more)

    def test_an_engine_out_of_reach(self):
        suite = self.good_suite("http://127.0.0.1:9")
        self.refuse(COULD_NOT_RUN, "submit", suite, "--local-agents=1",
                    says=["engine vllm", "127.0.0.1:9"])
        self.assertEqual(self.query("SELECT count(*) FROM attempts")[0][0], 0)

    def test_engines_that_answer_something_else(self):
        for kind, says in (("404", "HTTP 404"), ("500", "HTTP 500"),
                           ("html", "text/html")):
            _, url = self.sim(kind, "vllm", 20, f"--refuse-models={kind}")
            self.refuse(COULD_NOT_RUN, "submit", self.good_suite(url),
                        "--local-agents=1", says=[says, "/v1/models"])

    def test_a_model_that_is_not_served(self):
        _, url = self.sim("vllm")
        suite = self.suite('name: "g" model: "other" repeats: 1\n'
                           f'engines {{ name: "vllm" kind: VLLM base_url: "{url}" }}'
                           + case("c2", 2, 8))
        self.refuse(COULD_NOT_RUN, "submit", suite, "--local-agents=1",
                    says=['"other"', "sim"])

    def test_no_agent(self):
        _, url = self.sim("vllm")
        _, address = self.coordinator()
        done = self.refuse(COULD_NOT_RUN, "submit", self.good_suite(url),
                           f"--coordinator={address}", "--agent-wait=1s",
                           says="no agent connected within 1s")
        self.assertIn("waits for agents", done.stderr)

    def test_no_coordinator(self):
        for arguments in (["runs"], ["agents"], ["report"], ["watch"],
                          ["submit", self.good_suite("http://127.0.0.1:9")]):
            self.refuse(COULD_NOT_RUN, *arguments, "--coordinator=127.0.0.1:9",
                        says="127.0.0.1:9")

    def test_requests_that_fail_are_a_fail_and_the_rest_still_runs(self):
        _, url = self.sim("bad", "vllm", 20, "--fail-every=1", "--fail-kind=http500")
        _, good = self.sim("good")
        suite = self.suite('name: "g59" model: "sim" repeats: 1 seed: 1\n'
                           + engine("bad", url) + engine("good", good) + case("c2", 2, 8))
        done = self.run_verb("submit", suite)
        self.assertEqual(done.returncode, FAIL, done.stderr)
        report = json.loads(self.run_verb("report", "--format=json").stdout)
        self.assertEqual(report["status"], "FAIL")
        bad, fine = report["rows"]
        self.assertEqual((bad["completed"], bad["failed"]), (0, 8))
        self.assertEqual(bad["output_throughput"], 0.0)
        self.assertIsNone(bad["p50_ttft_ms"])
        self.assertEqual((fine["completed"], fine["failed"]), (8, 0))
        self.assertIn("500", done.stdout + done.stderr)

    def test_databases_that_cannot_be_used(self):
        suite = self.good_suite("http://127.0.0.1:9")
        self.refuse(COULD_NOT_RUN, "submit", suite, "--db=/proc/none/results.db",
                    says="/proc/none/results.db")
        self.db.write_bytes(b"no database at all" * 100)
        self.refuse(COULD_NOT_RUN, "submit", suite, f"--db={self.db}", says=str(self.db))
        self.assertEqual(self.db.read_bytes(), b"no database at all" * 100)

    def test_a_newer_database_is_left_alone(self):
        connection = sqlite3.connect(self.db)
        connection.execute("PRAGMA user_version = 9999")
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        connection.close()
        before = self.db.read_bytes()
        suite = self.good_suite("http://127.0.0.1:9")
        for arguments in (["submit", suite], ["report"], ["runs"], ["agents"],
                          ["watch"], ["serve", "--listen=127.0.0.1:0"],
                          ["import", ROOT / "tests/testdata/reference.json"]):
            self.refuse(COULD_NOT_RUN, *arguments, f"--db={self.db}", says="9999")
        self.assertEqual(self.db.read_bytes(), before)
        self.assertEqual([p.name for p in self.folder.glob("results.db*")],
                         ["results.db"])


class ReferenceTest(FleetTest):

    def test_import_then_report_gives_the_same_bytes(self):
        reference = ROOT / "tests/testdata/reference.json"
        done = self.run_verb("import", reference)
        self.assertEqual(done.returncode, PASS, done.stderr)
        report = subprocess.run([BIN / "coordinator", "report", "--format=json"],
                                cwd=self.folder, capture_output=True)
        self.assertEqual(report.stdout, reference.read_bytes())

    def test_the_reference_suite_is_66_rounds_and_7908_requests(self):
        done = self.run_verb("check", ROOT / "deploy/suites/minimax-m3-h20.pb.txt")
        self.assertEqual(done.returncode, PASS, done.stderr)
        self.assertIn("66 rounds", done.stdout)
        self.assertIn("7,908 requests", done.stdout)


if __name__ == "__main__":
    unittest.main()
