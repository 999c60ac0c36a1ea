"""Our timings against what the source really did, on one host's clock.

    fidelity.py [--seconds=10] [--bursts=3]

Arrival error: our stamp of a token minus the source's, taken right before its
write. TTFT error: ours (from sent) minus the source's (from the request's last
byte read). The source runs on one core, all clients on the other.
"""
import argparse
import json
import pathlib
import tempfile
import time

from processes import BIN, clients, describe_machine, source


def percentile(samples, share):
    """numpy's default: linear between closest ranks."""
    ordered = sorted(samples)
    position = (len(ordered) - 1) * share
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def read_lines(path):
    return {r["id"]: r for r in map(json.loads, path.read_text().splitlines())
            if r["id"]}


def measure(streams, tokens, agents, flags, lead_s=2.0):
    """One burst; pairs of (our record, the source's), and the clients' facts."""
    with tempfile.TemporaryDirectory(prefix="benchfleet-bench-") as folder:
        folder = pathlib.Path(folder)
        with source(*flags, f"--truth={folder}/truth") as facts:
            t0 = time.monotonic_ns() + int(lead_s * 1e9)
            commands, first = [], 0
            for agent in range(agents):
                count = streams * (agent + 1) // agents - streams * agent // agents
                if count == 0:
                    continue
                commands.append((
                    BIN / "bench_load", f"--port={facts['port']}", f"--streams={count}",
                    f"--requests={count}", f"--tokens={tokens}", "--warm",
                    f"--first-ordinal={first}", f"--t0-ns={t0}",
                    f"--records={folder}/records{agent}"))
                first += count
            results = clients(*commands)
        truth = read_lines(folder / "truth")
        ours = {}
        for agent in range(len(commands)):
            ours.update(read_lines(folder / f"records{agent}"))
    if len(ours) != streams or set(ours) != set(truth):
        raise SystemExit(f"{len(ours)} records, {len(truth)} in the truth file")
    return [(ours[i], truth[i]) for i in ours], results


def arrivals(record):
    at = record["sent_ns"]
    stamps = []
    for delta in record["deltas"]:
        at += delta
        stamps.append(at)
    return stamps


def errors(pairs):
    tokens, ttft = [], []
    for ours, truth in pairs:
        if len(ours["deltas"]) != len(truth["token_ns"]):
            raise SystemExit(f"{ours['id']}: another number of tokens")
        tokens += [a - b for a, b in zip(arrivals(ours), truth["token_ns"])]
        ttft.append(ours["deltas"][0] - (truth["token_ns"][0] - truth["arrival_ns"]))
    if min(tokens) < 0 or min(ttft) < 0:
        raise SystemExit("a stamp before the write")
    return tokens, ttft


def us(samples):
    return " / ".join(f"{percentile(samples, p) / 1e3:.0f}" for p in (.5, .99, .999))


def arrival_table(seconds):
    print("\nError at 50 tokens/s per stream, one loop; us, p50 / p99 / p99.9")
    print("| streams | token arrival | TTFT | loop CPU | "
          "own lag p99 us |\n| --- | --- | --- | --- | --- |")
    for streams in (50, 200, 500, 1000):
        pairs, results = measure(streams, seconds * 50, 1,
                                 ["--interval=20ms", "--ttft=100ms", "--spread"])
        tokens, ttft = errors(pairs)
        # The loop's wall time begins before T0.
        share = results[0]["loop_cpu_s"] / seconds
        print(f"| {streams} | {us(tokens)} | {us(ttft)} | {share:.0%} | "
              f"{results[0]['loop_lag_p99_ns'] / 1e3:.0f} |", flush=True)


def itls(stamps):
    return [b - a for a, b in zip(stamps, stamps[1:])]


def burst_table(bursts):
    print("\nAll released at once: TTFT 50 ms, ITL 10 ms, 100 tokens; ms")
    print("| concurrency | agents | true mean TTFT | ours | added | true p99 ITL | ours |"
          "\n|" + " --- |" * 7)
    for streams in (1, 10, 100, 500, 1000):
        for agents in (1, 2):
            if agents > streams:
                continue
            pairs = []
            for _ in range(bursts):
                more, _ = measure(streams, 100, agents, ["--ttft=50ms", "--interval=10ms"])
                pairs += more
            errors(pairs)
            true_ttft = [t["token_ns"][0] - t["arrival_ns"] for _, t in pairs]
            our_ttft = [o["deltas"][0] for o, _ in pairs]
            true_itl = [x for _, t in pairs for x in itls(t["token_ns"])]
            our_itl = [x for o, _ in pairs for x in itls(arrivals(o))]
            mean = [sum(x) / len(x) / 1e6 for x in (true_ttft, our_ttft)]
            p99 = [percentile(x, .99) / 1e6 for x in (true_itl, our_itl)]
            print(f"| {streams} | {agents} | {mean[0]:.2f} | {mean[1]:.2f} | "
                  f"{mean[1] - mean[0]:.2f} | {p99[0]:.2f} | {p99[1]:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--bursts", type=int, default=3)
    arguments = parser.parse_args()
    describe_machine()
    arrival_table(arguments.seconds)
    burst_table(arguments.bursts)


main()
