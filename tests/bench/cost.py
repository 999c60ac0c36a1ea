"""Client CPU per token event, against a raw floor and a Python client.

    cost.py [--quick] [--streams=250,500,1000] [--repeats=3] [--lockstep]

All clients read the same source, one after the other on one core, the source
on the other; figures are medians over the repeats.
"""
import argparse

from processes import (BIN, ROOT, client, describe_machine, median,
                       python_with_aiohttp, source)

INTERVAL_MS = 20
CLIENTS = ("floor", "ours", "python")


def run_client(name, port, streams, tokens):
    if name == "floor":
        return client(BIN / "bench_floor", f"--port={port}", f"--streams={streams}",
                      f"--tokens={tokens}")
    if name == "ours":
        return client(BIN / "bench_load", f"--port={port}", f"--streams={streams}",
                      f"--requests={streams}", f"--tokens={tokens}")
    return client(python_with_aiohttp(), ROOT / "tests/bench/python_client.py",
                  port, streams, tokens)


def microseconds_per_event(result):
    return result["cpu_s"] / result["events"] * 1e6


def paced(streams_list, repeats, tokens, flags):
    print(f"\nPaced: {1000 // INTERVAL_MS} tokens/s per stream, {tokens} tokens each; "
          f"CPU us per token event (min-max)")
    print("| streams | floor | ours | python | ours/floor | ours/python | "
          "source core |\n|" + " --- |" * 7)
    resident = {}
    for streams in streams_list:
        costs = {name: [] for name in CLIENTS}
        memory, busy = [], []
        for _ in range(repeats):
            for name in CLIENTS:
                with source(f"--interval={INTERVAL_MS}ms", *flags) as facts:
                    result = run_client(name, facts["port"], streams, tokens)
                if result["events"] != streams * tokens:
                    raise SystemExit(f"{name}: {result['events']} events, not "
                                     f"{streams * tokens}")
                costs[name].append(microseconds_per_event(result))
                if name == "ours":
                    memory.append(result["kb_per_stream"] * streams)
                    busy.append(facts["cpu_s"] / result["wall_s"])
        ratios = [median([a / b for a, b in zip(costs["ours"], costs[other])])
                  for other in ("floor", "python")]
        cells = [f"{median(c):.2f} ({min(c):.2f}-{max(c):.2f})" for c in costs.values()]
        print(f"| {streams} | {' | '.join(cells)} | {ratios[0]:.2f} | {ratios[1]:.2f} | "
              f"{median(busy):.0%} |", flush=True)
        resident[streams] = median(memory)
    low, high = min(resident), max(resident)
    if low < high:
        growth = (resident[high] - resident[low]) / (high - low)
        print(f"Memory of ours: {growth:.1f} KB per stream from {low} to {high} streams")


def unpaced(repeats, tokens):
    print("\nUnpaced: 64 streams, the server writes as fast as it can")
    print("| tokens per write | events/s | client CPU us per event |\n| --- | --- | --- |")
    for burst in (1, 4, 16):
        results = []
        for _ in range(repeats):
            with source("--ttft=0", "--interval=0", f"--burst={burst}") as facts:
                results.append(run_client("ours", facts["port"], 64, tokens))
        rate = median([r["events"] / r["wall_s"] for r in results])
        cost = median([microseconds_per_event(r) for r in results])
        print(f"| {burst} | {rate:,.0f} | {cost:.2f} |", flush=True)


def short(repeats, requests):
    print("\nShort requests: 1 output token, no pacing, kept-alive connections")
    print("| slots | requests/s | client CPU us per request |\n| --- | --- | --- |")
    for slots in (16, 64, 256):
        results = []
        for _ in range(repeats):
            with source("--ttft=0", "--interval=0") as facts:
                results.append(client(
                    BIN / "bench_load", f"--port={facts['port']}", f"--streams={slots}",
                    f"--requests={requests}", "--tokens=1", "--warm"))
        rate = median([r["records"] / r["wall_s"] for r in results])
        cost = median([r["cpu_s"] / r["records"] * 1e6 for r in results])
        print(f"| {slots} | {rate:,.0f} | {cost:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--streams", default="250,500,1000")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--lockstep", action="store_true")
    arguments = parser.parse_args()
    repeats = arguments.repeats or (1 if arguments.quick else 3)
    describe_machine()
    streams = [int(s) for s in arguments.streams.split(",")]
    paced(streams, repeats, 150 if arguments.quick else 250,
          ["--lockstep" if arguments.lockstep else "--spread"])
    unpaced(repeats, 10_000)
    short(repeats, 60_000)


main()
