"""The engine's counters as a block finds them, before its first request: what says whether it began cold.

An engine that the fleet has just started has answered one token of one word, to prove that it serves; so a fresh one
has some queries and never a hit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.clock import Clock
from labkit.core.errors import EngineError
from labkit.telemetry.engine_metrics import scrape

NAMES = ("requests", "prefix_queries", "prefix_hits", "prompt_tokens")


async def first_counters(urls: Mapping[str, str], clock: Clock) -> dict[str, dict[str, float | None]]:
    """By role: `started` (s, the process's own start time) and the counters of NAMES; {} for a page that is not there.

    `urls`: role to /metrics. Null: the engine has no such counter.
    """
    found = {}
    for role, url in urls.items():
        try:
            page = await scrape(url, clock)
        except EngineError:
            continue
        counters: dict[str, Any] = {name: page.counters[name] for name in NAMES}
        found[role] = {"started": page.started, **counters}
    return found
