"""Every stored and printed figure, made again from the raw tables."""
import csv
import io
import json
import unittest

from fleet import FleetTest, case, decode_varints, engine, percentile


class FiguresTest(FleetTest):
    def measure(self):
        _, url = self.sim("vllm", "vllm", 10)
        _, slow = self.sim("sglang", "sglang", 10, "--fail-every=9",
                           "--fail-kind=http500")
        suite = self.suite('name: "f" model: "sim" repeats: 2 seed: 5\n'
                           + engine("vllm", url) + engine("sglang", slow, "SGLANG")
                           + case("one", 1, 3, 16, 1) + case("five", 5, 20, 16, 12))
        done = self.run_verb("submit", suite, "--local-agents=3")
        self.assertEqual(done.returncode, 1, done.stderr)

    def recompute(self, result):
        offsets = {s["agent_id"]: s["clock_offset_ns"] for s in self.query(
            "SELECT * FROM shares WHERE attempt_id = ?", result["attempt_id"])}
        blobs = {t["ordinal"]: decode_varints(t["deltas_ns"]) for t in self.query(
            "SELECT * FROM request_tokens WHERE attempt_id = ?", result["attempt_id"])}
        requests = self.query("SELECT * FROM requests WHERE attempt_id = ?",
                              result["attempt_id"])
        at = lambda r, column: r[column] + offsets[r["agent_id"]]
        duration = (max(at(r, "end_ns") for r in requests)
                    - min(at(r, "sent_ns") for r in requests)) / 1e9
        good = [r for r in requests if r["outcome"] == "COMPLETED"]
        outputs = sum(r["output_tokens"] for r in good)
        inputs = sum(r["usage_prompt_tokens"] for r in good)
        samples = {"ttft": [], "tpot": [], "itl": [], "e2el": []}
        for r in good:
            deltas = blobs[r["ordinal"]]
            samples["ttft"].append(deltas[0] / 1e6)
            samples["e2el"].append(sum(deltas) / 1e6)
            samples["itl"] += [d / 1e6 for d in deltas[1:]]
            if r["output_tokens"] > 1 and len(deltas) > 1:
                samples["tpot"].append(sum(deltas[1:]) / 1e6 / (r["output_tokens"] - 1))
        figures = {"completed": len(good), "failed": len(requests) - len(good),
                   "total_output_tokens": outputs, "duration": duration,
                   "request_throughput": len(good) / duration,
                   "output_throughput": outputs / duration,
                   "total_token_throughput": (inputs + outputs) / duration}
        for name, values in samples.items():
            figures[f"mean_{name}_ms"] = sum(values) / len(values) if values else None
            for q in (50, 95, 99):
                figures[f"p{q}_{name}_ms"] = (percentile(values, q / 100)
                                              if values else None)
        return figures

    def same(self, a, b, what):
        if a is None or b is None or isinstance(a, int):
            self.assertEqual(a, b, what)
        else:
            self.assertLessEqual(abs(a - b), 1e-12 * abs(a), what)

    def test_figures_follow_from_the_raw_tables_in_every_format(self):
        self.measure()
        report = json.loads(self.run_verb("report", "--format=json").stdout)
        metrics = self.query("SELECT * FROM round_metrics")
        results = self.query("SELECT * FROM round_results ORDER BY round_id")
        self.assertGreater(len(results), 0)
        for result, stored, row in zip(results, metrics, report["rows"]):
            for name, value in self.recompute(result).items():
                self.same(value, stored[name], name)
                self.assertEqual(stored[name], row[name], name)
        self.table_agrees(report)
        self.aggregates_agree(report)

    def table_agrees(self, report):
        table = list(csv.DictReader(io.StringIO(
            self.run_verb("report", "--format=csv").stdout)))
        self.assertEqual(len(table), len(report["rows"]))
        for cells, row in zip(table, report["rows"]):
            for name, value in row.items():
                if value is None:
                    self.assertEqual(cells[name], "", name)
                else:
                    self.assertEqual(type(value)(cells[name]), value, name)

    def aggregates_agree(self, report):
        view = {(a["engine"], a["case_id"], a["metric"]): a
                for a in self.query("SELECT * FROM case_aggregates")}
        seen = 0
        for aggregate in report["aggregates"]:
            for name, spread in aggregate["metrics"].items():
                row = view[aggregate["engine"], aggregate["case_id"], name]
                for part in ("median", "min", "max"):
                    self.assertEqual(row[part], spread[part], (name, part))
                seen += 1
        self.assertEqual(seen, len(view))


if __name__ == "__main__":
    unittest.main()
