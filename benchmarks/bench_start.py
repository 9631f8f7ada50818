"""How much faster is the fast start, and does it cost anything afterwards? `python benchmarks/bench_start.py`

Starts the `base` engine of the default profile with vLLM's own start and with `labkit_vllm_cpu.serve`, in turns, and
streams the same request from each. Start: seconds until one token has come through. Gap: median seconds between two
chunks of a reply. The best of the repeats counts, since a busy machine only ever adds time. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from itertools import pairwise

from engines import fleet, plan, request, variant

from labkit.engines.client import EngineClient
from labkit.engines.fleet import Fleet

TOKENS = 64
WAYS = {"plain": variant(fast_start=False), "fast": variant(fast_start=True)}


async def measure(own: Fleet, way: str) -> tuple[float, float]:
    """Seconds of one start, and the median gap of three replies."""
    began = time.monotonic()
    engine = await own.up(plan(WAYS[way], "base"))
    start = time.monotonic() - began
    async with EngineClient(engine.base_url, engine.model) as client:
        replies = [await client.chat(request(TOKENS)) for _ in range(3)]
    own.down(engine.id)
    gaps = [statistics.median(b.t - a.t for a, b in pairwise(reply.chunks)) for reply in replies]
    return start, min(gaps)


async def main(repeats: int) -> None:
    seen: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    with fleet() as own:
        for _ in range(repeats):
            for way, results in seen.items():
                results.append(await measure(own, way))
                print(f"{way:6} start {results[-1][0]:6.1f} s   gap {1000 * results[-1][1]:6.1f} ms", flush=True)
    start = {way: min(result[0] for result in results) for way, results in seen.items()}
    gap = {way: min(result[1] for result in results) for way, results in seen.items()}
    result = {
        "benchmark": "start",
        "start_s": {way: round(value, 1) for way, value in start.items()},
        "start_ratio": round(start["plain"] / start["fast"], 2),
        "gap_s": {way: round(value, 4) for way, value in gap.items()},
        "gap_ratio": round(gap["fast"] / gap["plain"], 2),
        "repeats": repeats,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2))
