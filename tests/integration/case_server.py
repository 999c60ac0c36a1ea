"""tests/cases/serve.py as a process of a test."""
import json
import re

from fleet import ROOT, wait_for


class CaseServer:
    """serve.py as a process, and what it recorded."""

    def __init__(self, test, folder=None):
        self.record = test.folder / "record.jsonl"
        flags = [f"--dir={folder}"] if folder else []
        process = test.start("serve", "python3", "-B", ROOT / "tests/cases/serve.py",
                             "--record", self.record, *flags)
        self.port = wait_for("serve.py", lambda: re.search(
            r"^port (\d+)", process.out.read_text(), re.M))[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def entries(self, start=0):
        return [json.loads(line) for line in
                self.record.read_text().splitlines()[start:]]

    def mark(self):
        """The place of what is recorded from now on."""
        return len(self.entries())
