"""Does n-gram speculation slow prefill down? `python benchmarks/bench_ngram_threads.py`

vLLM's n-gram drafter runs a numba kernel that can set the OpenMP library of the whole engine to one thread. Nothing in
speculation should change prefill, so the ratio of prefill times, spec over base, should be 1; without
NUMBA_NUM_THREADS it was 1.7 to 2 on two cores. Three engines are up at once and answer in turns; the time is the
engine's own (scheduled to first token), and the best of the repeats counts. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys

from engines import fleet, plan, request, variant

from labkit.engines.client import EngineClient

PINNED = "NUMBA_NUM_THREADS"
PLANS = {
    "base": (variant(), "base"),
    "spec": (variant(), "spec"),
    "spec, unpinned": (variant(without_env=PINNED), "spec"),
}
LIMIT = 1.2
"""A ratio above this means that the confounder is back."""


async def prefill_s(client: EngineClient) -> float:
    """Seconds of one cold prefill. Enough tokens follow that the drafter has run before the next one."""
    reply = await client.chat(request(24))
    if reply.usage.prefill_s is None:
        sys.exit("the engine reports no prefill time")
    return reply.usage.prefill_s


async def main(repeats: int) -> None:
    seen: dict[str, list[float]] = {name: [] for name in PLANS}
    with fleet() as own:
        engines = {name: await own.up(plan(*asked)) for name, asked in PLANS.items()}
        for turn in range(repeats + 1):
            for name, engine in engines.items():
                async with EngineClient(engine.base_url, engine.model) as client:
                    seconds = await prefill_s(client)
                if turn:  # the first one warms the engine and its drafter
                    seen[name].append(seconds)
    best = {name: min(seconds) for name, seconds in seen.items()}
    for name, seconds in best.items():
        print(f"{name:16} prefill {1000 * seconds:7.0f} ms   {seconds / best['base']:5.2f} x base")
    pinned, unpinned = (round(best[name] / best["base"], 2) for name in ("spec", "spec, unpinned"))
    result = {
        "benchmark": "ngram_threads",
        "spec_over_base": pinned,
        "unpinned_over_base": unpinned,
        "limit": LIMIT,
        "confounded": pinned > LIMIT,
        "repeats": repeats,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4))
