"""Every case of tests/cases through the whole system: submit, agent, database.

serve.py plays the cases; one case is one engine of a suite, and the cases that
ask for the same are one submit. What the database then holds is compared with
the case's expectation, its times with the stamps that serve.py recorded.
"""
import json
import statistics
import unittest
import urllib.request

from case_server import CaseServer
from fleet import DEADLINE_S, ROOT, FleetTest, decode_varints

PASS, FAIL = 0, 1
MOST_PLAYS = 5   # by which times are judged
MOST_TRIES = 30  # those included that a busy machine spoilt
FLAGS = {1: "wrong_length", 2: "wrong_input_length", 3: "usage_inconsistent"}
REUSED_DEAD_CONNECTION = 1 << 5
# Rules that a busy machine breaks; such a play shows nothing and is repeated.
NOISE = ("client_stall_ms", "start_skew_ms", "loop_cpu_share")


def load_cases():
    return [case for file in sorted((ROOT / "tests/cases").glob("*.json"))
            for case in json.loads(file.read_text())]


class Play:
    """One case's rows of one run, and the record of the same time."""

    def __init__(self, test, db, case, entries):
        self.case, self.expect = case, case["expect"]
        mine = [e for e in entries if e.get("case") == case["id"]]
        self.posts = [e for e in mine if e["what"] == "request" and e["method"] == "POST"]
        self.sends = [e for e in mine if e["what"] == "send"]
        query = lambda sql, *more: test.query(sql, case["id"], *more, db=db)
        self.attempts = query(
            "SELECT a.* FROM attempts a JOIN rounds r ON r.id = a.round_id"
            " JOIN engines e ON e.run_id = r.run_id AND e.position = r.engine"
            " WHERE e.name = ? ORDER BY a.id")
        ids = ",".join(str(a["id"]) for a in self.attempts)
        everything = lambda sql: test.query(sql.format(ids), db=db)
        self.requests = everything("SELECT * FROM requests WHERE attempt_id IN ({})"
                                   " ORDER BY ordinal")
        self.tokens = {t["ordinal"]: t for t in everything(
            "SELECT * FROM request_tokens WHERE attempt_id IN ({})")}
        self.results = everything("SELECT * FROM round_results WHERE attempt_id IN ({})")
        self.broken = [r["rule"] for r in everything(
            "SELECT rule FROM rules WHERE attempt_id IN ({}) AND NOT ok")]
        self.stalls_ns = [r["longest_stall_ns"] for r in everything(
            "SELECT longest_stall_ns FROM shares WHERE attempt_id IN ({})")]
        self.reasons = [r["reason"] for r in test.query(
            "SELECT reason FROM run_reasons", db=db)
            if r["reason"].startswith(case["id"] + " ")]

    def is_noise(self):
        return any(rule in NOISE for rule in self.broken) or (
            self.coalesced_more() and self.someone_stalled())

    def coalesced_more(self):
        expected = self.expect.get("each_completed", self.expect).get("coalesced", 0)
        return any(r["outcome"] == "COMPLETED" and r["coalesced"] > expected
                   for r in self.requests)

    def someone_stalled(self, limit_ns=10_000_000):
        late = (s["before_ns"] - s["start_ns"] - s["at_ms"] * 1e6 for s in self.sends)
        return max(self.stalls_ns) > limit_ns or any(ns > limit_ns for ns in late)

    def arrivals(self, request):
        """Of the content chunks, in ns of the agent's (this host's) clock."""
        at, stamps = request["sent_ns"], []
        tokens = self.tokens.get(request["ordinal"])
        for delta in decode_varints(tokens["deltas_ns"]) if tokens else []:
            at += delta
            stamps.append(at)
        return stamps

    def lateness_ms(self):
        """(what, ms after the send that it must follow), of completed requests."""
        late = []
        posts = {int(p["headers"]["x-request-id"].rsplit("-", 1)[1]): p for p in self.posts}
        for request in self.requests:
            if request["outcome"] != "COMPLETED":
                continue
            post = posts[request["ordinal"]]
            expect = self.expect.get("each_completed", self.expect)
            sent = {}
            for send in self.sends:
                if send["k"] == post["k"]:
                    sent.setdefault(send["at_ms"], send["before_ns"])
            stamps = self.arrivals(request)
            at = expect["ttft_ms"]
            for i, stamp in enumerate(stamps):
                at += expect["itl_ms"][i - 1] if i > 0 else 0
                late.append((f"token {i}", (stamp - sent[at]) / 1e6))
            for name, column in (("first_choice_ms", "first_choice_ns"),
                                 ("done_ms", "done_ns")):
                if expect[name] is not None:
                    late.append((name, (request[column] - sent[expect[name]]) / 1e6))
        return late


class CasesTest(FleetTest):

    @classmethod
    def setUpClass(cls):
        cls.cases = load_cases()

    def setUp(self):
        super().setUp()
        self.server = CaseServer(self)
        self.runs = 0

    def suite_text(self, cases, include_usage=True):
        asked, chat = cases[0]["asked"], cases[0]["endpoint"] == "chat"
        engines = "".join(
            f'engines {{ name: "{c["id"]}" kind: VLLM base_url: "{self.server.url}/{c["id"]}" }}\n'
            for c in cases)
        return (f'name: "cases" model: "m" repeats: 1 seed: 7 max_attempts: 1\n{engines}'
                f'cases {{ id: "c" input_tokens: {asked["input_tokens"]}'
                f' output_tokens: {asked["output_tokens"]} concurrency: {asked["concurrency"]}'
                f' requests: {asked["requests"]} endpoint: {"CHAT" if chat else "COMPLETIONS"}'
                f' include_usage: {"true" if include_usage else "false"} }}\n')

    def play(self, cases, **more):
        """Submits the cases, which ask for the same; a Play of each, by id."""
        self.runs += 1
        db = self.folder / f"run{self.runs}.db"
        start = self.server.mark()
        suite = self.suite(self.suite_text(cases, **more))
        done = self.run_verb("submit", suite, f"--db={db}", "--local-agents=1")
        self.assertIn(done.returncode, (PASS, FAIL), done.stderr)
        entries = self.server.entries(start)
        plays = {c["id"]: Play(self, db, c, entries) for c in cases}
        self.assertEqual(done.returncode == PASS,
                         not any(p.reasons for p in plays.values()), done.stdout)
        return plays

    def reset(self, cases):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for case in cases:
            opener.open(f"{self.server.url}/{case['id']}/reset", timeout=DEADLINE_S).read()

    def groups(self):
        """The cases that can be one suite."""
        groups = {}
        for case in self.cases:
            key = (case["endpoint"], *sorted(case["asked"].items()))
            groups.setdefault(key, []).append(case)
        return groups.values()

    # --- what must hold on every play ---

    def check_completed(self, play, request, expect):
        self.assertEqual(request["content_chunks"], expect["content_chunks"])
        self.assertEqual(request["output_tokens"], expect["output_tokens"])
        self.assertEqual(request["token_count_source"].lower(), expect["token_count_source"])
        self.assertEqual(request["coalesced"], expect.get("coalesced", 0))
        self.assertEqual(len(play.arrivals(request)), expect["content_chunks"])
        self.assertEqual(request["done_ns"] == 0, expect["done_ms"] is None)
        if "tokens_of_chunks" in expect:
            told = decode_varints(play.tokens[request["ordinal"]]["chunk_tokens"])
            self.assertEqual(told, expect["tokens_of_chunks"])
        flags = {name for bit, name in FLAGS.items() if request["flags"] >> bit & 1}
        if "stream_buffered" in play.broken:
            flags.add("stream_buffered")
        may = set(expect.get("flags_may", []))
        self.assertEqual(flags - may, set(expect["flags"]) - may)

    def check_facts(self, play):
        expect, asked = play.expect, play.case["asked"]
        outcomes = [r["outcome"].lower() for r in play.requests]
        self.assertEqual(len(play.attempts), 1)
        self.assertEqual([r["ordinal"] for r in play.requests], list(range(asked["requests"])))
        self.assertEqual(len(play.posts), expect.get("posts_seen", asked["requests"]))
        wanted = expect.get("outcomes") or {expect["outcome"]: 1}
        self.assertEqual({o: outcomes.count(o) for o in outcomes}, wanted)
        for request in play.requests:
            if request["outcome"] == "COMPLETED":
                self.assertEqual(request["error"], "")
                self.check_completed(play, request, expect.get("each_completed", expect))
            else:
                self.assertIn(expect.get("message_contains", ""), request["error"])
                self.assertNotEqual(request["error"], "")
                self.assertEqual(request["http_status"],
                                 expect.get("http_status", request["http_status"]))
        buffered = "stream_buffered" in play.broken
        status = expect.get("status") or ("FAIL" if buffered else "PASS")
        self.assertEqual("FAIL" if play.reasons else "PASS", status, play.reasons)
        self.assertEqual(play.attempts[0]["verdict"], "INVALID" if buffered else "VALID")
        if not buffered:
            self.check_result(play, play.results[0])
        self.check_posts(play)

    def check_result(self, play, row):
        """The round's figures are those of its requests."""
        expect = play.expect
        completed = [r for r in play.requests if r["outcome"] == "COMPLETED"]
        self.assertEqual(row["completed"], expect.get("completed", len(completed)))
        self.assertEqual(row["failed"], expect.get("failed", len(play.requests) - len(completed)))
        self.assertEqual(row["total_output_tokens"], sum(r["output_tokens"] for r in completed))
        ttfts, e2els, itls, tpots = [], [], [], []
        for request in completed:
            stamps = play.arrivals(request)
            ttfts.append(stamps[0] - request["sent_ns"])
            e2els.append(stamps[-1] - request["sent_ns"])
            itls += [b - a for a, b in zip(stamps, stamps[1:])]
            if len(stamps) > 1 and request["output_tokens"] > 1:
                tpots.append((stamps[-1] - stamps[0]) / (request["output_tokens"] - 1))
        for name, ns in (("ttft", ttfts), ("e2el", e2els), ("itl", itls), ("tpot", tpots)):
            for figure, of in (("mean", statistics.fmean), ("p50", statistics.median)):
                got = row[f"{figure}_{name}_ms"]
                if ns:
                    self.assertAlmostEqual(got, of(ns) / 1e6, places=6)
                else:
                    self.assertIsNone(got)
        if "tpot_ms" in expect:
            self.assertEqual(bool(tpots), expect["tpot_ms"] is not None)
        if "tokens_per_chunk" in expect:
            self.assertAlmostEqual(row["tokens_per_chunk"], expect["tokens_per_chunk"], places=3)
        if "run_ms_max" in expect:
            self.assertLess(row["duration"] * 1000, expect["run_ms_max"])

    def check_posts(self, play):
        expect = play.expect
        for post in play.posts:
            self.assertNotIn("expect", post["headers"])
            self.assertNotIn("gzip", post["headers"].get("accept-encoding", ""))
            self.assertGreaterEqual(len(post["raw"]), expect.get("request_bytes_min", 0))
            limit_ms = expect.get("first_body_byte_after_headers_ms_max")
            if limit_ms is not None:
                self.assertLess((post["body_ns"] - post["head_ns"]) / 1e6, limit_ms)
        if expect.get("distinct_bodies"):
            bodies = {post["raw"].split("\r\n\r\n", 1)[1] for post in play.posts}
            self.assertEqual(len(bodies), len(play.posts))
        if expect.get("failed_equals_cut_connections"):
            cut = [r for r in play.requests if r["flags"] & REUSED_DEAD_CONNECTION]
            self.assertEqual([r["outcome"] for r in cut], ["RESET"] * expect["failed"])

    def off_times(self, play):
        """What is early, at once a failure; what is late in this play."""
        tolerance = play.expect.get("tolerance_ms", 10)
        late = play.lateness_ms()
        for what, ms in late:
            self.assertGreaterEqual(ms, 0, f"{what} before it was sent")
        return [(what, ms) for what, ms in late if ms > tolerance]

    # --- the tests ---

    def test_every_case_is_stored_and_judged_as_expected(self):
        for cases in self.groups():
            lateness = {c["id"]: [] for c in cases}
            left = cases
            for number in range(MOST_TRIES):
                plays = self.play(left)
                again = []
                for case in left:
                    play = plays[case["id"]]
                    if play.is_noise():
                        again.append(case)
                        continue
                    with self.subTest(case=case["id"], play=number):
                        self.check_facts(play)
                        lateness[case["id"]].append(play.lateness_ms())
                        if self.off_times(play) and len(lateness[case["id"]]) < MOST_PLAYS:
                            again.append(case)
                left = again
                if not left:
                    break
                self.reset(left)
            for case in cases:
                with self.subTest(case=case["id"]):
                    self.check_times(case, lateness[case["id"]])

    def check_times(self, case, plays):
        """By the last play if all is in time there, else by the median of five."""
        self.assertTrue(plays, "every play was spoilt by a stalled client")
        tolerance = case["expect"].get("tolerance_ms", 10)
        if all(ms <= tolerance for _, ms in plays[-1]):
            return
        for times in zip(*plays):
            median = statistics.median(ms for _, ms in times)
            self.assertLessEqual(median, tolerance, times)

    def test_a_finish_is_enough_where_no_usage_was_asked_for(self):
        cases = [c for c in self.cases if "outcome_if_usage_not_asked" in c["expect"]]
        self.assertTrue(cases)
        for case_id, play in self.play(cases, include_usage=False).items():
            self.assertEqual([r["outcome"].lower() for r in play.requests],
                             [play.expect["outcome_if_usage_not_asked"]], case_id)
            self.assertNotIn("stream_options", play.posts[0]["raw"])


if __name__ == "__main__":
    unittest.main()
