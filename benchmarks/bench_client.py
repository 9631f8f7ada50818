"""What does the client itself cost? `python benchmarks/bench_client.py`

Two questions about the streaming client, and no engine that computes anything:

- parsing: how long it takes to turn one event of the stream (a content chunk as vLLM sends it, with its token id) into
  a timed chunk, and so how many a second one core could take at most;
- reading: how many chunks a second it takes from a fake engine in another process that sends as fast as it can, with 1,
  4 and 16 streams at once. The two share the machine: the fake's own sending is part of that number.

What an engine asks for: a decode step every 10 ms in 64 streams is 6,400 chunks a second. The last line is JSON. Takes
about ten seconds.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from labkit.core.chat import ChatRequest, Reply
from labkit.engines.assemble import Assembler
from labkit.engines.client import EngineClient
from labkit.engines.refusals import checked_event
from labkit.engines.sse import SseParser

EVENTS = 20_000
TOKENS = 2_000
STREAMS = (1, 4, 16)


def event(index: int) -> bytes:
    """One content chunk on the wire."""
    choice = {
        "index": 0,
        "delta": {"content": f" word{index % 97}"},
        "logprobs": None,
        "finish_reason": None,
        "token_ids": [index % 49152],
    }
    head = {"id": "chatcmpl-0123456789abcdef", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()


def parse_s() -> float:
    """Seconds for one event, each in a network block of its own: the median of five passes."""
    blocks, passes = [event(n) for n in range(EVENTS)], []
    for _ in range(5):
        parser, parts = SseParser(), Assembler()
        began = time.perf_counter()
        for block in blocks:
            for data in parser.feed(block):
                parts.add(checked_event("bench", data), 0.0)
        passes.append((time.perf_counter() - began) / EVENTS)
        if len(parts.chunks) != EVENTS:
            sys.exit(f"{len(parts.chunks)} chunks came of {EVENTS} events")
    return statistics.median(passes)


@asynccontextmanager
async def fake_engine() -> AsyncIterator[str]:
    """A fake engine without any delay, in a process of its own; its URL."""
    argv = ("-m", "labkit.engines.fake", "--reply-tokens", str(TOKENS))
    process = await asyncio.create_subprocess_exec(sys.executable, *argv, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout
        found = re.search(r"http://\S+", (await process.stdout.readline()).decode())
        yield found.group() if found else sys.exit("the fake engine did not start")
    finally:
        process.terminate()
        await process.wait()


async def read(url: str, streams: int) -> dict[str, float]:
    """Chunks a second over all streams, and what of the client's time was parsing."""
    request = ChatRequest(messages=[{"role": "user", "content": "Go."}], max_tokens=TOKENS)
    async with EngineClient(url, "fake") as client:
        began, cpu = time.perf_counter(), time.process_time()
        replies: list[Reply] = await asyncio.gather(*(client.chat(request) for _ in range(streams)))
        took, used = time.perf_counter() - began, time.process_time() - cpu
    chunks = sum(len(reply.chunks) for reply in replies)
    parsing = sum(reply.parse_s or 0.0 for reply in replies)
    return {
        "streams": streams,
        "chunks_per_s": round(chunks / took),
        "client_cores": round(used / took, 2),
        "cpu_us_per_chunk": round(1e6 * used / chunks, 1),
        "parse_us_per_chunk": round(1e6 * parsing / chunks, 1),
    }


async def main() -> None:
    each = parse_s()
    print(f"parsing: {1e6 * each:.1f} us an event, {1 / each:,.0f} events/s at most on one core")
    async with fake_engine() as url:
        await read(url, 1)  # the first request is slower: imports, connections
        rows = [await read(url, streams) for streams in STREAMS]
    for row in rows:
        print(
            f"{row['streams']:3} streams: {row['chunks_per_s']:7,} chunks/s, {row['client_cores']:.2f} cores, "
            f"{row['cpu_us_per_chunk']} us CPU a chunk, of which parsing {row['parse_us_per_chunk']}"
        )
    result = {"benchmark": "client", "parse_us_per_event": round(1e6 * each, 1), "reading": rows}
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main())
