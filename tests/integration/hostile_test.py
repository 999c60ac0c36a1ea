"""What a careless user, a broken engine and a bad day do to the fleet."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import unittest

from fleet import BIN, FleetTest, case, engine, wait_for

PASS, FAIL, USAGE, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 3, 130
# Where the figures are not the point: a busy machine spoils rounds, rightly.
TO_THE_END = (PASS, FAIL)


class RawEngine:
    """Answers GETs with `models`, and nothing else; None: says nothing at all."""

    def __init__(self, models):
        self.models = models
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.open = []
        self.asked = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.open.append(connection)
                threading.Thread(target=self.serve, args=(connection,),
                                 daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError):
            while head := connection.recv(65536):
                self.asked.set()
                if self.models is not None and head.startswith(b"GET"):
                    connection.sendall(self.models)

    def close(self):
        for connection in [self.listener, *self.open]:
            connection.close()


def answer(body, status="200 OK", content_type="application/json"):
    return (f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode("latin-1") + body


class HostileTest(FleetTest):

    def raw_engine(self, models=None):
        raw = RawEngine(models)
        self.addCleanup(raw.close)
        return raw

    def long_suite(self, url, concurrency=4, requests=400, repeats=2, more=""):
        return self.suite(
            f'name: "long" model: "sim" repeats: {repeats} seed: 1 {more}\n'
            + engine("vllm", url) + case("c", concurrency, requests, 16, 60))

    def loaded(self, attempts=1):
        wait_for("load", lambda: self.db.exists() and self.query(
            "SELECT count(*) FROM sqlite_master WHERE name = 'requests'")[0][0]
            and self.query("SELECT count(DISTINCT attempt_id) FROM requests"
                           )[0][0] >= attempts)

    def run_row(self, run_id):
        return self.query("SELECT * FROM runs WHERE id = ?", run_id)[0]

    def reasons(self, run_id):
        return [r["reason"] for r in self.query(
            "SELECT reason FROM run_reasons WHERE run_id = ?", run_id)]


class EngineTest(HostileTest):

    def test_an_error_page_that_is_no_utf8_is_quoted_and_breaks_no_stream(self):
        page = answer(b"<html>caf\xe9 \xff" + "é".encode() * 200,
                      "502 Bad Gateway", "text/html; charset=caf\xe9")
        done = self.run_verb("submit", self.long_suite(self.raw_engine(page).url))
        self.assertEqual(done.returncode, COULD_NOT_RUN, done.stderr)
        self.assertIn("HTTP 502", done.stderr)
        self.assertIn("caf", done.stderr)

    def test_a_model_list_that_is_no_utf8(self):
        page = answer(b'{"data":[{"id":"caf\xe9"}]}')
        done = self.run_verb("submit", self.long_suite(self.raw_engine(page).url))
        self.assertEqual(done.returncode, COULD_NOT_RUN, done.stderr)
        self.assertIn("vllm", done.stderr)
        self.assertEqual(self.run_verb("runs").returncode, PASS)

    def test_an_engine_that_says_nothing_does_not_hold_up_an_interrupt(self):
        for models in (None, answer(b'{"data":[{"id":"sim"}]}')):
            with self.subTest(models=models):
                raw = self.raw_engine(models)
                submit = self.start(f"submit{models is None}", BIN / "coordinator",
                                    "submit", self.long_suite(raw.url),
                                    f"--db={self.folder}/{models is None}.db")
                self.assertTrue(raw.asked.wait(60))
                submit.kill(signal.SIGINT)
                self.assertEqual(submit.wait(9), INTERRUPTED)

    def test_an_engine_that_dies_in_a_round_fails_only_its_own_rounds(self):
        dying, url = self.sim("dying", "vllm", 20, "--exit-after-requests=5")
        _, good = self.sim("good")
        suite = self.suite('name: "g" model: "sim" repeats: 2 seed: 1\n'
                           + engine("dying", url) + engine("good", good)
                           + case("c2", 2, 20))
        done = self.run_verb("submit", suite)
        self.assertEqual(done.returncode, FAIL, done.stderr + done.stdout)
        good_rounds = self.query("SELECT * FROM round_metrics WHERE engine = 'good'")
        self.assertEqual({r["completed"] for r in good_rounds}, {20})
        for form in ("text", "md", "csv"):
            report = self.run_verb("report", f"--format={form}")
            self.assertEqual(report.returncode, PASS)
            self.assertNotIn("nan", report.stdout.lower())
        self.strict_json(self.run_verb("report", "--format=json").stdout)
        dying.wait()

    def strict_json(self, text):
        def refuse(word):
            raise AssertionError(f"{word} in the report")
        return json.loads(text, parse_constant=refuse)


class FleetLossTest(HostileTest):

    def test_a_run_that_waits_for_lost_agents_outlives_its_coordinator(self):
        _, url = self.sim("vllm", "vllm", 5)
        coordinator, address = self.coordinator()
        agents = [self.agent(address, name) for name in "ab"]
        self.agents_attached(address, 2)
        self.run_verb("submit", self.long_suite(url), f"--coordinator={address}",
                      "--detach")
        self.loaded()
        for agent in agents:
            agent.kill()
        wait_for("the abort", lambda: self.query(
            "SELECT 1 FROM attempts WHERE verdict = 'ABORTED'"))
        coordinator.kill(signal.SIGTERM)
        self.assertEqual(coordinator.wait(20), 0)
        self.assertEqual(self.run_row(1)["state"], "RUNNING")
        self.coordinator(name="next", listen=address)
        for name in "ab":
            self.agent(address, f"{name}2")
        done = self.run_verb("watch", "1", f"--coordinator={address}")
        self.assertIn(done.returncode, TO_THE_END, done.stderr)

    def test_a_cancel_while_a_run_waits_for_lost_agents_is_a_cancel(self):
        _, url = self.sim("vllm", "vllm", 5)
        _, address = self.coordinator()
        agent = self.agent(address, "a")
        self.agents_attached(address, 1)
        at = f"--coordinator={address}"
        self.run_verb("submit", self.long_suite(url), at, "--detach")
        self.loaded()
        agent.kill()
        wait_for("the abort", lambda: self.query(
            "SELECT 1 FROM attempts WHERE verdict = 'ABORTED'"))
        self.run_verb("cancel", "1", at)
        self.assertEqual(self.run_verb("watch", "1", at).returncode, INTERRUPTED)
        self.assertEqual(self.run_row(1)["state"], "CANCELLED_RUN")
        self.assertEqual(self.reasons(1), ["cancelled"])

    def test_a_queued_run_is_cancelled_at_once(self):
        _, url = self.sim("vllm", "vllm", 1)
        _, address = self.coordinator()
        self.agent(address, "a")
        self.agents_attached(address, 1)
        at = f"--coordinator={address}"
        for _ in range(2):
            self.run_verb("submit", self.long_suite(url), at, "--detach")
        self.loaded()
        for _ in range(2):
            self.assertEqual(self.run_verb("cancel", "2", at).returncode, PASS)
        self.assertEqual(self.run_verb("watch", "2", at).returncode, INTERRUPTED)
        self.assertEqual(self.run_row(1)["state"], "RUNNING")
        self.run_verb("cancel", "1", at)
        self.assertEqual(self.run_verb("watch", "1", at).returncode, INTERRUPTED)

    def test_a_resumed_run_waits_for_all_agents_that_it_had(self):
        _, url = self.sim("vllm", "vllm", 5)
        coordinator, address = self.coordinator()
        for name in "ab":
            self.agent(address, name, "--max-concurrency=2")
        self.agents_attached(address, 2)
        self.run_verb("submit", self.long_suite(url, 4, 100),
                      f"--coordinator={address}", "--detach")
        self.loaded()
        coordinator.kill()
        coordinator.wait()
        self.coordinator(name="next", listen=address)
        done = self.run_verb("watch", "1", f"--coordinator={address}")
        self.assertIn(done.returncode, TO_THE_END, done.stderr)
        shares = self.query("SELECT count(*) AS shares FROM shares JOIN attempts ON"
                            " attempts.id = attempt_id GROUP BY attempt_id")
        self.assertEqual({s["shares"] for s in shares}, {2})

    def test_too_little_room_on_the_agents_says_so_with_numbers(self):
        _, url = self.sim("vllm")
        _, address = self.coordinator()
        self.agent(address, "a", "--max-concurrency=3")
        self.agents_attached(address, 1)
        done = self.run_verb("submit", self.long_suite(url, 4),
                             f"--coordinator={address}", "--agent-wait=1s")
        self.assertEqual(done.returncode, COULD_NOT_RUN)
        self.assertIn("case c: concurrency 4 is more than the 1 agents take "
                      "together (3)", done.stderr)

    def test_a_fleet_smaller_than_wished_is_waited_for_once(self):
        _, url = self.sim("vllm", "vllm", 5)
        _, address = self.coordinator()
        self.agent(address, "a")
        self.agents_attached(address, 1)
        done = self.run_verb("submit", self.long_suite(url, 2, 4, 4),
                             f"--coordinator={address}", "--min-agents=2",
                             "--agent-wait=3s")
        self.assertIn(done.returncode, TO_THE_END, done.stderr)
        starts = [a["started_unix_ns"] for a in self.query("SELECT * FROM attempts")]
        self.assertGreaterEqual(len(starts), 4)
        self.assertLess(max(starts) - min(starts), 3e9 * (len(starts) - 1))
        self.assertIn("1 of 2 connected", done.stderr)

    def test_ids_that_no_table_could_show_are_refused(self):
        for name in ("two words", "a\nb", "caf\udce9", "x" * 101):
            done = subprocess.run(
                [BIN / "agent", "--coordinator=127.0.0.1:9", f"--name={name}"],
                capture_output=True, timeout=60)
            self.assertEqual(done.returncode, USAGE, name)
            self.assertIn(b"--name", done.stderr)


class DiskTest(HostileTest):

    def small_disk(self, size):
        """A folder on a disk of its own, or the test is skipped."""
        folder = self.folder / "disk"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}",
                               "tmpfs", folder], capture_output=True)
        if done.returncode != 0:
            self.skipTest("needs the right to mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        return folder

    def test_a_full_disk_ends_the_run_and_keeps_what_was_stored(self):
        folder = self.small_disk("3m")
        self.db = folder / "results.db"
        _, url = self.sim("vllm", "vllm", 50)
        suite = self.suite('name: "full" model: "sim" repeats: 40 seed: 1\n'
                           + engine("vllm", url) + case("c", 4, 100, 16, 300))
        done = self.run_verb("submit", suite, f"--db={self.db}")
        self.assertEqual(done.returncode, COULD_NOT_RUN, done.stderr)
        self.assertIn(f"{self.db}: no space left", done.stderr)
        self.assertLessEqual(done.stderr.count("timings of agent"), 4)
        self.assertEqual(self.query("PRAGMA integrity_check")[0][0], "ok")
        rows = self.query("SELECT completed FROM round_metrics")
        self.assertLessEqual({r["completed"] for r in rows}, {100})
        at = f"--db={self.db}"
        report = self.run_verb("report", "--format=json", at)
        self.assertEqual(json.loads(report.stdout)["counted_requests"],
                         100 * len(rows))
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        again = self.suite('name: "again" model: "sim" repeats: 1\n'
                           + engine("vllm", url) + case("c", 4, 20))
        self.assertIn(self.run_verb("submit", again, at).returncode, TO_THE_END)
        self.assertEqual(self.query("PRAGMA integrity_check")[0][0], "ok")

    def test_a_database_that_is_removed_under_a_run_ends_it(self):
        _, url = self.sim("vllm", "vllm", 2)
        submit = self.start("submit", BIN / "coordinator", "submit",
                            self.long_suite(url), f"--db={self.db}")
        self.loaded()
        self.db.unlink()
        self.assertEqual(submit.wait(30), COULD_NOT_RUN)
        self.assertIn(f"{self.db}: was removed or replaced", submit.err.read_text())


class StreamsTest(HostileTest):

    def test_a_closed_standard_stream_is_never_a_database_or_a_socket(self):
        """The lowest free descriptor would else be a file of ours."""
        _, url = self.sim("vllm")
        suite = self.suite('name: "s" model: "sim" repeats: 1 seed: 1\n'
                           + engine("vllm", url) + case("c2", 2, 8))
        for closed in (">&-", "<&-", "2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(
                ["sh", "-c", f'exec "$0" submit "$1" --db="$2" {closed}',
                 BIN / "coordinator", suite, self.db], timeout=60,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, **self.env})
            self.assertIn(done.returncode, TO_THE_END, closed)
        self.assertEqual(self.query("PRAGMA integrity_check")[0][0], "ok")
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" report --db="$1" >&-', BIN / "coordinator",
             self.db], timeout=60, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, COULD_NOT_RUN)
        self.assertIn("cannot write output", done.stderr)

    def test_a_reader_that_goes_away_ends_no_run(self):
        _, url = self.sim("vllm")
        suite = self.suite('name: "s" model: "sim" repeats: 1 seed: 1\n'
                           + engine("vllm", url) + case("c2", 2, 8))
        done = subprocess.run(
            ["bash", "-c", '"$0" submit "$1" --db="$2" 2>&1 | true; '
             "exit ${PIPESTATUS[0]}", BIN / "coordinator", suite, self.db],
            timeout=60, env={**os.environ, **self.env})
        self.assertIn(done.returncode, TO_THE_END)
        self.assertEqual([p.name for p in self.folder.glob("results.db*")],
                         ["results.db"])


class UsageTest(HostileTest):

    def refuse(self, says, program, *arguments):
        done = subprocess.run([BIN / program, *arguments], text=True, timeout=60,
                              capture_output=True, cwd=self.folder,
                              env={**os.environ, **self.env})
        self.assertEqual(done.returncode, USAGE, (arguments, done.stderr))
        self.assertIn(says, done.stderr)
        self.assertEqual(list(self.folder.glob("*.db*")), [])

    def test_addresses_that_grpc_would_take_for_others_are_refused(self):
        suite = self.suite('name: "s" model: "sim" repeats: 1\n'
                           + engine("vllm", "http://127.0.0.1:9") + case("c2", 2, 8))
        for bad in ("7070", "127.0.0.1:", "127.0.0.1:99999", "http://127.0.0.1:1"):
            self.refuse("--listen=", "coordinator", "serve", f"--listen={bad}")
            self.refuse("HOST:PORT", "agent", f"--coordinator={bad}")
            for verb in (["runs"], ["watch", "1"], ["submit", suite]):
                self.refuse("HOST:PORT", "coordinator", *verb, f"--coordinator={bad}")

    def test_values_that_would_mean_something_else_are_refused(self):
        suite = self.suite('name: "s" model: "sim" repeats: 1\n'
                           + engine("vllm", "http://127.0.0.1:9") + case("c2", 2, 8))
        for bad in ("inf", "100000000h", "-1s", "5"):
            self.refuse("--agent-wait", "coordinator", "submit", suite,
                        f"--agent-wait={bad}")
        self.refuse("--lease", "coordinator", "serve", "--lease=0s")
        self.refuse("--log-level", "coordinator", "serve", "--log-level=nope")
        self.refuse("--log-level", "agent", "--coordinator=h:1", "--log-level=nope")
        self.refuse("empty", "coordinator", "submit", suite, "--db=")

    def test_an_unfinished_run_of_a_file_is_no_pass(self):
        _, url = self.sim("vllm", "vllm", 2)
        submit = self.start("submit", BIN / "coordinator", "submit",
                            self.long_suite(url), f"--db={self.db}")
        self.loaded()
        submit.kill()
        submit.wait()
        done = self.run_verb("watch")
        self.assertEqual(done.returncode, COULD_NOT_RUN)
        self.assertIn("not finished", done.stderr)


if __name__ == "__main__":
    unittest.main()
