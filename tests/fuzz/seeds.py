#!/usr/bin/env python3
"""Writes fuzz seeds made of the case files and suites: seeds.py OUT_FOLDER"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cases"))
import serve  # noqa: E402

LONGEST = 16384  # of a seed; slower ones find less


def plays():
    for file in sorted((ROOT / "tests/cases").glob("*.json")):
        for case in json.loads(file.read_text()):
            for play in case.get("plays", [case]):
                yield case["id"], play


def main():
    out = pathlib.Path(sys.argv[1])

    def write(target, name, data):
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        if len(data) <= LONGEST:
            (folder / name).write_bytes(data)

    for i, (name, play) in enumerate(plays()):
        body = b"".join(serve.payload(w) for w in play["writes"])
        head = play.get("head", serve.SSE_HEAD)
        status = {"200": 0x40, "429": 0x46 + 0, "": 3}.get(
            head.split(" ")[1] if head else "", 0x47)
        kind = 0 if "event-stream" in head else 1 if "json" in head else 2
        write("sse_parser", f"{name}-{i}", b"\x03" + body)
        write("error_body", f"{name}-{i}", bytes([status, kind, 3]) + body)
        for k, event in enumerate(e for w in play["writes"] for e in w.get("events", [])):
            write("chunk", f"{name}-{i}-{k}",
                  (event if isinstance(event, str) else json.dumps(event)).encode())
    for file in (ROOT / "deploy/suites").glob("*.pb.txt"):
        write("suite_text", file.name, file.read_bytes())


if __name__ == "__main__":
    main()
