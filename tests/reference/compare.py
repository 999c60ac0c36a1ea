"""compare.py REPORT.json RESULTS.db REFERENCE.json SCALE

Medians of a scaled run against the reference, and the run's own proof figures.
"""
import contextlib
import json
import sqlite3
import statistics
import sys

TIMES = ("mean_ttft_ms", "mean_tpot_ms", "mean_e2el_ms")
RATES = ("output_throughput",)


def medians(report):
    return {(a["engine"], a["case_id"]): {k: v["median"] for k, v in a["metrics"].items()}
            for a in report["aggregates"]}


def main():
    report_path, db_path, reference_path, scale = sys.argv[1:]
    scale = float(scale)
    with open(report_path) as f:
        report = json.load(f)
    with open(reference_path) as f:
        reference = json.load(f)
    ours, theirs = medians(report), medians(reference)
    print(f"{report['status']}: {report['counted_rounds']} rounds, "
          f"{report['counted_requests']} requests")
    print(f"{'engine':8}{'case':20}" + "".join(
        f"{name:>34}" for name in ("output tok/s", "mean TTFT ms", "mean TPOT ms", "mean E2EL ms")))
    worst = {}
    for key, want in theirs.items():
        line = f"{key[0]:8}{key[1]:20}"
        for name in RATES + TIMES:
            got = ours[key][name] / scale if name in RATES else ours[key][name] * scale
            off = got / want[name] - 1
            worst.setdefault((key[0], name), []).append(abs(off))
            line += f"{got:12.1f} /{want[name]:10.1f} {off:+8.1%} "
        print(line)
    print("median (and largest) difference:")
    for (engine, name), offs in worst.items():
        print(f"  {engine:8}{name:20}{statistics.median(offs):7.1%} ({max(offs):.1%})")
    with contextlib.closing(sqlite3.connect(f"file:{db_path}?mode=ro", uri=True)) as db:
        use = sorted(u for u, in db.execute("SELECT concurrency_utilisation FROM round_results"))
        kinds = db.execute("SELECT kind, verdict, count(*) FROM attempts GROUP BY 1, 2").fetchall()
        skew = sorted(s for s, in db.execute(
            "SELECT start_skew_ns / 1e6 FROM attempts WHERE verdict = 'VALID'"))
        turn = sorted(t for t, in db.execute(
            "SELECT slot_turnaround_ns / 1e3 FROM requests WHERE slot_turnaround_ns > 0"))
    print(f"concurrency_utilisation: median {statistics.median(use):.4f}, min {use[0]:.4f}")
    print(f"start skew: p50 {statistics.median(skew):.2f} ms, max {skew[-1]:.2f} ms")
    print(f"slot turnaround: p50 {statistics.median(turn):.0f} us, "
          f"p99 {turn[len(turn) * 99 // 100]:.0f} us")
    print("attempts: " + ", ".join(f"{n} {kind} {verdict}" for kind, verdict, n in kinds))


if __name__ == "__main__":
    main()
