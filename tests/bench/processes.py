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


# BENCH_ALONE=1 (root; for a machine with other work on it): the bench runs
# before all other work. Everybody else has to do with what is left: be brief.
ALONE = os.environ.get("BENCH_ALONE") == "1"


def pinned(core, *arguments, priority=2):
    first = ["chrt", "--rr", str(priority)] if ALONE else []
    return [*first, "taskset", "-c", str(core), *map(str, arguments)]


@contextlib.contextmanager
def client_core_kept(keep):
    """Keeps other work off the client's core between its turns, too, so that
    its caches stay warm as on an idle machine. Linux then takes the core away
    for 50 ms in a second: not for what measures delays."""
    if not (ALONE and keep):
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


def clients(*commands, keep_core=False):
    """Runs all at once to their ends; what each prints as JSON."""
    with client_core_kept(keep_core):
        children = [subprocess.Popen(pinned(CLIENT_CORE, *command), text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for command in commands]
        outputs = [child.communicate() for child in children]
    for command, child, (out, err) in zip(commands, children, outputs):
        if child.returncode != 0 or not out:
            sys.exit(f"{command}: exit {child.returncode}: {out}{err}")
    return [json.loads(out) for out, _ in outputs]


def client(*command):
    return clients(command, keep_core=True)[0]


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
