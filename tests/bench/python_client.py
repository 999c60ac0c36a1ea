"""What public Python benchmark clients do: aiohttp, a task per request, lines
of the body, json.loads of each, times and text kept. Prints one JSON line.

    python_client.py PORT STREAMS TOKENS
"""
import asyncio
import json
import resource
import sys
import time

import aiohttp

PORT, STREAMS, TOKENS = map(int, sys.argv[1:4])


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def stream(session, prompt):
    payload = {"model": "m", "prompt": prompt, "temperature": 0.0,
               "max_tokens": TOKENS, "stream": True, "ignore_eos": True,
               "stream_options": {"include_usage": True}}
    result = {"ttft": 0.0, "itl": [], "text": "", "tokens": 0}
    sent = last = time.perf_counter()
    async with session.post(f"http://127.0.0.1:{PORT}/v1/completions",
                            json=payload) as response:
        assert response.status == 200
        async for line in response.content:
            line = line.strip()
            if not line:
                continue
            data = line.decode("utf-8").removeprefix("data: ")
            if data == "[DONE]":
                continue
            chunk = json.loads(data)
            if chunk.get("choices"):
                now = time.perf_counter()
                if result["ttft"] == 0.0:
                    result["ttft"] = now - sent
                else:
                    result["itl"].append(now - last)
                last = now
                result["text"] += chunk["choices"][0]["text"] or ""
            if usage := chunk.get("usage"):
                result["tokens"] = usage["completion_tokens"]
    return result


async def main():
    prompts = ["word " * 40] * STREAMS
    began, cpu = time.perf_counter(), cpu_seconds()
    timeout = aiohttp.ClientTimeout(total=6 * 3600)
    async with aiohttp.ClientSession(
            timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
        results = await asyncio.gather(*(stream(session, p) for p in prompts))
    events = sum(1 + len(r["itl"]) for r in results)
    print(json.dumps({"events": events, "cpu_s": cpu_seconds() - cpu,
                      "wall_s": time.perf_counter() - began}))


asyncio.run(main())
