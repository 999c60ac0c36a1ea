"""The bench's processes: one source on one core, clients on the other."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("BIN_DIR", ROOT / "build/bin"))
SOURCE_CORE, CLIENT_CORE = 0, 1


# BENCH_ALONE=1 (root; shared machines only): the bench runs before all other
# work, and a spinner keeps that work off the client's core in between, as on an
# idle machine. Everybody else has to do with what is left: be brief.
ALONE = os.environ.get("BENCH_ALONE") == "1"


def pinned(core, *arguments, priority=2):
    first = ["chrt", "--rr", str(priority)] if ALONE else []
    return [*first, "taskset", "-c", str(core), *map(str, arguments)]


@contextlib.contextmanager
def client_core_kept():
    if not ALONE:
        yield
        return
    spinner = subprocess.Popen(pinned(CLIENT_CORE, sys.executable, "-c",
                                      "while True: pass", priority=1))
    try:
        yield
    finally:
        spinner.kill()
        spinner.wait()


@contextlib.contextmanager
def source(*flags):
    """Yields a dict with its port; after the block also what it reports."""
    child = subprocess.Popen(pinned(SOURCE_CORE, BIN / "bench_source", *flags),
                             stdout=subprocess.PIPE, text=True)
    facts = {}
    try:
        facts["port"] = int(child.stdout.readline().rsplit(":", 1)[1])
        yield facts
    finally:
        child.send_signal(signal.SIGTERM)
        report = child.stdout.read()
        child.wait()
    facts.update(json.loads(report))


def client(*arguments, core=CLIENT_CORE):
    """Runs to the end; what it prints as JSON."""
    with client_core_kept():
        done = subprocess.run(pinned(core, *arguments), text=True,
                              capture_output=True)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"{arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def python_with_aiohttp():
    """A Python that has it: Debian's package serves /usr/bin/python3 only."""
    for python in ("python3", "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run(
                [python, "-c", "import aiohttp"], capture_output=True).returncode == 0:
            return python
    sys.exit("no aiohttp: apt-get install python3-aiohttp")


def describe_machine():
    load = os.getloadavg()
    print(f"{time.strftime('%F %H:%M')}, {os.cpu_count()} cores, load before "
          f"{load[0]:.2f} {load[1]:.2f} {load[2]:.2f}, {os.uname().release}")


def median(values):
    return statistics.median(values)
