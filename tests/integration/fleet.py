"""Real processes for the tests: coordinator, agents, simulated engines.

Every process is a context manager, is killed at the end of its test, and takes
a port that the system chooses.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["BIN_DIR"])
ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
PROFILES = ROOT / "tests/enginesim/profiles"
DEADLINE_S = 60


def wait_for(what, condition, deadline_s=DEADLINE_S):
    """Polls: processes have no other way to tell a test that they are done."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {deadline_s} s for {what}")


class Process:
    """A child with its output in files."""

    def __init__(self, folder, name, *arguments, env=None):
        self.out = pathlib.Path(folder) / f"{name}.out"
        self.err = pathlib.Path(folder) / f"{name}.err"
        with self.out.open("ab") as out, self.err.open("ab") as err:
            self.child = subprocess.Popen(
                [str(a) for a in arguments], stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, env={**os.environ, **(env or {})})

    def listening(self):
        """host:port of its "listening on" line."""
        def find():
            found = re.search(r"^listening on (\S+)$", self.out.read_text(), re.M)
            if not found and self.child.poll() is not None:
                raise AssertionError(f"it ended: {self.err.read_text()}")
            return found
        return wait_for("its port", find)[1]

    def kill(self, sig=signal.SIGKILL):
        if self.child.poll() is None:
            self.child.send_signal(sig)

    def wait(self, timeout_s=DEADLINE_S):
        return self.child.wait(timeout_s)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill(signal.SIGCONT)
        self.kill()
        self.child.wait()


class FleetTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="benchfleet-test-"))
        self.stack = contextlib.ExitStack()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.stack.close)
        self.db = self.folder / "results.db"
        self.env = {"BENCHFLEET_COORDINATOR": ""}

    def start(self, name, *arguments):
        return self.stack.enter_context(
            Process(self.folder, name, *arguments, env=self.env))

    def sim(self, name, flavour="vllm", scale=20, *flags):
        """Starts a simulated engine; returns its process and base URL."""
        process = self.start(
            name, BIN / "enginesim", f"--flavour={flavour}", "--port=0",
            f"--profile={PROFILES}/{'sglang' if flavour == 'sglang' else 'vllm'}"
            "-minimax-m3-h20.profile",
            f"--time-scale={scale}", f"--truth={self.truth_path(name)}", *flags)
        return process, f"http://{process.listening()}"

    def truth_path(self, name):
        return self.folder / f"{name}.truth"

    def truth(self, *names):
        """Truth records of requests that reached the engines, by request id."""
        records = [json.loads(line) for name in names
                   for line in self.truth_path(name).read_text().splitlines()]
        return {r["id"]: r for r in records if r["id"]}

    def coordinator(self, *flags, name="coordinator", listen="127.0.0.1:0"):
        process = self.start(name, BIN / "coordinator", "serve",
                             f"--listen={listen}", f"--db={self.db}", *flags)
        return process, process.listening()

    def agent(self, address, name, *flags):
        return self.start(name, BIN / "agent", f"--coordinator={address}",
                          f"--name={name}", *flags)

    def agents_attached(self, address, count):
        wait_for(f"{count} agents", lambda: self.run_verb(
            "agents", f"--coordinator={address}").stdout.count(" connected ") == count)

    def run_verb(self, *arguments, cwd=None, timeout_s=120, env=None):
        return subprocess.run(
            [str(BIN / "coordinator"), *map(str, arguments)], text=True,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout_s,
            cwd=cwd or self.folder, env={**os.environ, **self.env, **(env or {})})

    def suite(self, text, name="suite.pb.txt"):
        path = self.folder / name
        path.write_text(text)
        return path

    def query(self, sql, *parameters, db=None):
        connection = sqlite3.connect(f"file:{db or self.db}?mode=ro", uri=True)
        with contextlib.closing(connection):
            connection.row_factory = sqlite3.Row
            return connection.execute(sql, parameters).fetchall()


def engine(name, url, kind="VLLM", more=""):
    return (f'engines {{ name: "{name}" kind: {kind} base_url: "{url}" '
            f'model: "sim" {more} }}\n')


def case(case_id, concurrency, requests, inputs=16, outputs=8, more=""):
    return (f'cases {{ id: "{case_id}" input_tokens: {inputs} output_tokens: '
            f'{outputs} concurrency: {concurrency} requests: {requests} {more} }}\n')


def decode_varints(blob):
    """Unsigned LEB128, as the token blobs are stored."""
    values, value, shift = [], 0, 0
    for byte in blob:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    return values


def percentile(samples, share):
    """numpy's default: linear between closest ranks."""
    ordered = sorted(samples)
    position = (len(ordered) - 1) * share
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)
