"""Addresses, proxies, certificates and keys, end to end (cases e41 to e46)."""
import http.server
import json
import pathlib
import socket
import ssl
import subprocess
import threading
import time
import unittest

from case_server import CaseServer
from fleet import FleetTest

PASS, FAIL, COULD_NOT_RUN = 0, 1, 3
KEY = "sk-test-000000000000000042"
EVENTS = [
    {"choices": [{"index": 0, "text": "a", "finish_reason": None}]},
    {"choices": [{"index": 0, "text": "b", "finish_reason": "length"}]},
    {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}},
    "[DONE]",
]


def good_play(case_id):
    # Apart in time: a buffered stream would be INVALID.
    return {"id": case_id, "writes": [{"at_ms": 50 * (i + 1), "events": [e]}
                                      for i, e in enumerate(EVENTS)]}


class TransportTest(FleetTest):

    def serve(self, *plays):
        """serve.py with cases of our own."""
        folder = self.folder / "plays"
        folder.mkdir()
        (folder / "plays.json").write_text(json.dumps(plays))
        return CaseServer(self, folder)

    def suite_of(self, *urls, engine="", requests=1):
        engines = "".join(f'engines {{ name: "e{i}" kind: VLLM base_url: "{url}" {engine} }}\n'
                          for i, url in enumerate(urls))
        return self.suite(
            f'name: "t" model: "m" repeats: 1 seed: 1 max_attempts: 1\n{engines}'
            f'cases {{ id: "c" input_tokens: 4 output_tokens: 2 concurrency: 1'
            f' requests: {requests} }}\n')

    def submit(self, suite, env=None):
        return self.run_verb("submit", suite, f"--db={self.db}", "--local-agents=1", env=env)

    def measure(self, suite, env=None):
        """All requests complete. On a busy machine a rule may still fail PASS."""
        done = self.submit(suite, env=env)
        self.assertIn(done.returncode, (PASS, FAIL), done.stderr)
        outcomes = {r["outcome"] for r in self.query("SELECT outcome FROM requests")}
        self.assertEqual(outcomes, {"COMPLETED"}, done.stdout)


class AddressTest(TransportTest):

    def test_any_form_of_the_base_address_reaches_the_endpoint(self):  # e41
        server = self.serve(good_play("v1"), good_play("gw"))
        forms = ["", "/", "/v1", "/v1/", "/gw/a", "/gw/a/v1/"]
        self.measure(self.suite_of(*(server.url + form for form in forms)))
        posts = [e["path"] for e in server.entries()
                 if e["what"] == "request" and e["method"] == "POST"]
        self.assertEqual(posts, ["/v1/completions"] * 4 + ["/gw/a/v1/completions"] * 2)
        gets = {e["path"] for e in server.entries()
                if e["what"] == "request" and e["method"] == "GET"}
        self.assertEqual(gets, {"/v1/models", "/gw/a/v1/models"})

    def test_proxies_of_the_environment_are_not_used(self):  # e43
        proxy = socket.create_server(("127.0.0.1", 0))
        proxy.setblocking(False)
        self.addCleanup(proxy.close)
        address = "http://127.0.0.1:%d" % proxy.getsockname()[1]
        names = ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy")
        env = {**{name: address for name in names},
               **{name.upper(): address for name in names}, "no_proxy": "", "NO_PROXY": ""}
        server = self.serve(good_play("v1"))
        self.measure(self.suite_of(server.url), env=env)
        with self.assertRaises(BlockingIOError):  # nobody waits to be accepted
            proxy.accept()


def play(case_id, *writes, **more):
    return {"id": case_id, "writes": list(writes), **more}


class FaultTest(TransportTest):
    """Servers that break, stall or never stop: one outcome each, none hangs."""

    TIMEOUTS = ("timeouts { first_token_s: 1 between_tokens_s: 0.8 request_s: 2.5 }\n")
    TOKEN = {"at_ms": 10, "events": EVENTS[:1]}
    PINGS = {"at_ms": 20, "text": ": ping\n\n", "every_ms": 50, "times": 100}
    FAULTS = [
        (play("pings", PINGS), "TIMEOUT", "first token: none within 1s"),
        (play("silent", head="", end="hang"), "TIMEOUT", "first token: none within 1s"),
        (play("head-only", end="hang"), "TIMEOUT", "first token: none within 1s"),
        (play("stall", TOKEN, end="hang"), "TIMEOUT", "between tokens: none for 800ms"),
        (play("token-then-pings", TOKEN, PINGS), "TIMEOUT", "between tokens: none for 800ms"),
        (play("endless", {**TOKEN, "every_ms": 50, "times": 100}), "TIMEOUT",
         "timeout of the request: not over after 2.5s"),
        (play("reset", TOKEN, end="rst"), "RESET", "after 1 content chunks"),
        (play("half-close", TOKEN, end="half"), "TRUNCATED", "after 1 content chunks"),
        (play("no-answer", head="", end="fin"), "RESET", "127.0.0.1"),
        (play("busy", {"at_ms": 1, "text": "wait"}, head="HTTP/1.1 503 Busy\r\n"
              "Retry-After: 1\r\nContent-Length: 4\r\n\r\n"), "HTTP_STATUS", "503"),
        (play("endless-error", {"at_ms": 1, "text": "no ", "every_ms": 50, "times": 100},
              head="HTTP/1.1 500 Oops\r\n\r\n"), "HTTP_STATUS", "HTTP 500"),
        (play("half-close-after-done", {**TOKEN, "events": EVENTS[:1]},
              {"at_ms": 40, "events": EVENTS[1:]}, end="half"), "COMPLETED", ""),
        (play("drip", *({"at_ms": 1 + 150 * i, "events": [e], "bytewise": 1}
                        for i, e in enumerate(EVENTS))), "COMPLETED", ""),
    ]

    def test_every_request_ends_in_one_outcome_and_in_time(self):
        server = self.serve(*(p for p, _, _ in self.FAULTS))
        suite = self.suite_of(*(f"{server.url}/{p['id']}" for p, _, _ in self.FAULTS))
        suite.write_text(self.TIMEOUTS + suite.read_text())
        began = time.monotonic()
        done = self.submit(suite)
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(done.returncode, FAIL, done.stderr)
        rows = self.query(
            "SELECT e.position, q.* FROM requests q JOIN attempts a ON a.id = q.attempt_id"
            " JOIN rounds r ON r.id = a.round_id JOIN engines e"
            " ON e.run_id = r.run_id AND e.position = r.engine ORDER BY e.position")
        self.assertEqual([r["position"] for r in rows], list(range(len(self.FAULTS))))
        for (script, outcome, says), row in zip(self.FAULTS, rows):
            with self.subTest(script["id"]):
                self.assertEqual(row["outcome"], outcome, row["error"])
                self.assertIn(says, row["error"])
                self.assertLess((row["end_ns"] - row["sent_ns"]) / 1e9, 4)
        posts = [e["case"] for e in server.entries() if e.get("method") == "POST"]
        self.assertEqual(posts, [p["id"] for p, _, _ in self.FAULTS])  # none twice


class TlsEngine:
    """An HTTPS server with an engine's answers."""

    def __init__(self, certificate, key):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = json.dumps({"data": [{"id": "m"}]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for event in EVENTS:
                    text = event if isinstance(event, str) else json.dumps(event)
                    self.wfile.write(f"data: {text}\n\n".encode())
                    time.sleep(0.01)  # the engine's pace
                self.close_connection = True
                engine.posts += 1

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a refused handshake

            def finish_request(self, request, client_address):
                wrapped = context.wrap_socket(request, server_side=True)
                try:
                    super().finish_request(wrapped, client_address)
                finally:
                    wrapped.close()

        engine = self
        self.posts = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class TlsTest(TransportTest):

    def certificate(self, name, address="127.0.0.1", expired=False):
        """A self-signed certificate and its key, as files."""
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName=IP:{address}\n")
        run = lambda *a: subprocess.run(["openssl", *map(str, a)], check=True,
                                        capture_output=True)
        run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={name}")
        run("x509", "-req", "-in", request, "-signkey", key, "-out", certificate,
            "-extfile", extensions, "-days", -1 if expired else 2)
        return certificate, key

    def engine(self, *certificate):
        engine = TlsEngine(*certificate)
        self.addCleanup(engine.close)
        return engine

    def refused(self, engine, ca_file, *says):
        began = time.monotonic()
        more = f'ca_file: "{ca_file}"' if ca_file else ""
        done = self.submit(self.suite_of(engine.url, engine=more))
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(done.returncode, COULD_NOT_RUN, done.stdout + done.stderr)
        for text in ("engine e0", "no TLS session", "certificate", *says):
            self.assertIn(text, done.stderr)
        self.assertEqual(engine.posts, 0)

    def test_certificates(self):  # e45
        good = self.certificate("self-signed")
        engine = self.engine(*good)
        self.refused(engine, None, "self-signed")
        self.measure(self.suite_of(engine.url, engine=f'ca_file: "{good[0]}"'))
        self.assertEqual(engine.posts, 1)
        other = self.certificate("other", address="127.0.0.9")
        self.refused(self.engine(*other), other[0], "127.0.0.1")
        old = self.certificate("old", expired=True)
        self.refused(self.engine(*old), old[0], "expired")

    def test_reports_say_that_a_certificate_was_not_verified(self):
        engine = self.engine(*self.certificate("any"))
        self.measure(self.suite_of(engine.url, engine="insecure_skip_verify: true"))
        for form in ("text", "json", "md"):
            report = self.run_verb("report", f"--db={self.db}", f"--format={form}").stdout
            self.assertRegex(report, "(?i)insecure|not verified", form)


class KeyTest(TransportTest):

    def plays(self):
        said = f"Incorrect key: {KEY}"
        head = ("HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
                "Content-Length: %d\r\n%s\r\n")
        body = json.dumps({"error": {"message": said}})
        return [
            {"id": "status", "head": head % ("401 Unauthorized", len(body), ""),
             "writes": [{"at_ms": 1, "text": body}]},
            {"id": "stream", "writes": [{"at_ms": 1, "events": [EVENTS[0]]}, {
                "at_ms": 9, "events": [{"error": {"message": said}}]}]},
            {"id": "redirect", "writes": [], "head": head % (
                "302 Found", 0, f"Location: http://127.0.0.1:9/?key={KEY}\r\n")},
            {"id": "text", "head": head % ("500 Oops", 4000, ""), "writes": [
                {"at_ms": 1, "text": ("x" * 190 + KEY).ljust(4000)}]},
        ]

    def test_the_key_is_nowhere(self):  # e46
        server = self.serve(*self.plays())
        self.env["BENCHFLEET_TEST_KEY"] = KEY
        coordinator, address = self.coordinator("--log-level=debug")
        agent = self.agent(address, "a", "--log-level=debug")
        self.agents_attached(address, 1)
        suite = self.suite_of(*(f"{server.url}/{p['id']}" for p in self.plays()),
                              engine='api_key_env: "BENCHFLEET_TEST_KEY"', requests=3)
        done = self.run_verb("submit", suite, f"--coordinator={address}")
        self.assertEqual(done.returncode, FAIL, done.stderr)
        posts = [e for e in server.entries() if e.get("method") == "POST"]
        self.assertEqual(len(posts), 12)
        for post in posts:
            self.assertEqual(post["headers"]["authorization"], f"Bearer {KEY}")
        errors = [r["error"] for r in self.query("SELECT error FROM requests")]
        self.assertEqual(sum("Incorrect key: [key]" in e for e in errors), 6)

        texts = {"submit": done.stdout + done.stderr}
        for process in (coordinator, agent):
            arguments = pathlib.Path(f"/proc/{process.child.pid}/cmdline")
            texts[f"ps {process.child.pid}"] = arguments.read_text()
        for form in ("text", "json", "csv", "md"):
            texts[form] = self.run_verb("report", f"--coordinator={address}",
                                        f"--format={form}").stdout
            self.assertTrue(texts[form], form)
        for i in range(len(self.plays())):
            texts[f"raw {i}"] = self.run_verb("export-raw", f"--db={self.db}",
                                              f"--engine=e{i}", "--case=c", "--repeat=1").stdout
            self.assertIn("ordinal", texts[f"raw {i}"])
        for what, text in texts.items():
            self.assertNotIn(KEY[:20], text, what)
        files = [p for p in self.folder.iterdir() if p.is_file()
                 and p != server.record]  # the server's own
        self.assertIn(self.db, files)
        self.assertIn(agent.err, files)
        for file in files:
            self.assertNotIn(KEY[:20].encode(), file.read_bytes(), file)

    def test_a_key_in_the_model_list_is_masked(self):
        for answer in (f'{{"error": "{KEY}"}}', "y" * 185 + KEY):
            with self.subTest(answer=answer[:20]):
                self.refuse_models(answer)

    def refuse_models(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(401)
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        key_file = self.folder / "key"
        key_file.write_text(KEY + "\n")
        suite = self.suite_of(f"http://127.0.0.1:{server.server_port}",
                              engine=f'api_key_file: "{key_file}"')
        done = self.submit(suite)
        self.assertEqual(done.returncode, COULD_NOT_RUN, done.stderr)
        self.assertIn("HTTP 401", done.stderr)
        self.assertIn("[key]", done.stderr)
        for text in (done.stdout, done.stderr):
            self.assertNotIn(KEY[:8], text)
        self.assertNotIn(KEY[:8].encode(), self.db.read_bytes())


if __name__ == "__main__":
    unittest.main()
