"""Does anything grow? One simulated engine, a coordinator and 2 agents, run
after run.

    soak.py [MINUTES]

After each run, with nothing in flight, resident memory and open descriptors of
each process are sampled. Verdict: from the second to the last quarter of the
samples the medians grow by less than 2 % + 512 KB and 2 descriptors.
"""
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("BIN_DIR", str(ROOT / "build/bin"))
os.environ.setdefault("SOURCE_ROOT", str(ROOT))
sys.path.insert(0, str(ROOT / "tests/integration"))
import fleet  # noqa: E402

SPARE_KB = 512
SPARE_SHARE = 0.02
SPARE_FDS = 2


def sample(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0])
    return resident, len(os.listdir(f"/proc/{pid}/fd"))


class Soak(fleet.FleetTest):
    def runTest(self):
        """Not a test of its own: a folder and processes for main."""

    def run_for(self, minutes):
        _, url = self.sim("engine", "vllm", 20)
        coordinator, address = self.coordinator()
        watched = {"coordinator": coordinator}
        for name in ("agent-1", "agent-2"):
            watched[name] = self.agent(address, name)
        self.agents_attached(address, 2)
        suite = self.suite(
            'name: "soak" model: "sim" repeats: 3 seed: 3\n' + fleet.engine("sim", url)
            + fleet.case("c4", 4, 40, 64, 32, "warmup_requests: 4")
            + fleet.case("c24", 24, 240, 128, 64)
            + fleet.case("chat", 16, 160, 32, 48,
                         "endpoint: CHAT allow_wrong_length: true"))
        samples = {name: [] for name in watched}
        rounds = bad = 0
        began, shown = time.monotonic(), 0
        while time.monotonic() - began < minutes * 60 or rounds < 36:
            done = self.run_verb("submit", suite, f"--coordinator={address}",
                                 "--min-agents=2")
            rounds += 9
            if done.returncode not in (0, 1):
                raise SystemExit(done.stdout[-500:] + done.stderr[-500:])
            bad += done.returncode  # a busy machine makes rounds INVALID
            for name, process in watched.items():
                samples[name].append(sample(process.child.pid))
            minute = int((time.monotonic() - began) / 30)
            if minute >= shown:
                shown = minute + 1
                print(f"{time.monotonic() - began:5.0f} s, {rounds:5d} rounds: " + ", ".join(
                    f"{name} {s[-1][0]} KB {s[-1][1]} fds" for name, s in samples.items()),
                    flush=True)
        print(f"{rounds} rounds, {rounds // 9 * (40 + 240 + 160) * 3} requests, "
              f"{bad} runs not PASS, database {self.db.stat().st_size >> 10} KB")
        flat = [verdict(name, values) for name, values in samples.items()]
        return all(flat)


def verdict(name, values):
    quarter = max(1, len(values) // 4)
    early, late = values[quarter:2 * quarter], values[-quarter:]
    before, after = ([statistics.median(v[i] for v in part) for i in (0, 1)]
                     for part in (early, late))
    flat = (after[0] <= before[0] * (1 + SPARE_SHARE) + SPARE_KB
            and after[1] <= before[1] + SPARE_FDS)
    print(f"{name}: {before[0]:.0f} -> {after[0]:.0f} KB, {before[1]:.0f} -> "
          f"{after[1]:.0f} fds: {'flat' if flat else 'GROWS'}")
    return flat


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    print(f"{time.strftime('%F %H:%M')}, load before {os.getloadavg()[0]:.1f}")
    soak = Soak()
    soak.setUp()
    try:
        flat = soak.run_for(minutes)
    finally:
        soak.doCleanups()
    print("FLAT" if flat else "NOT FLAT")
    sys.exit(0 if flat else 1)


main()
