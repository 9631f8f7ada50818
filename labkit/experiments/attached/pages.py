"""Pages of counters of an engine that was attached: which quantities there are, and what they say of its settings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from labkit.core.errors import EngineError
from labkit.telemetry.engine_metrics import scrape

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, kw_only=True)
class PageSeen:
    """`counts`: the fields of Counts that the page has. The others: None where it does not say."""

    counts: tuple[str, ...]
    block_size: int | None
    prefix_caching: bool | None
    running: int | None

    def has(self, name: str) -> bool:
        return name in self.counts


async def read_pages(urls: Mapping[str, str]) -> dict[str, PageSeen]:
    """Role to page. Raises EngineError for one that cannot be read, or that has no engine's counters."""
    found = await asyncio.gather(*(_read(role, url) for role, url in urls.items()))
    return dict(zip(urls, found, strict=True))


async def _read(role: str, url: str) -> PageSeen:
    try:
        page = await scrape(url)
    except EngineError as error:
        hint = f"Look at it from here: curl {url}. Labkit sends no key to a page of metrics."
        raise EngineError(f"--metrics {role}: {error.message}", hint) from error
    names = tuple(name for name, value in page.counters.items() if value is not None)
    if not names:
        raise EngineError(f"--metrics {role}: {url} has no counters of vLLM or SGLang", _NO_COUNTERS)
    return PageSeen(
        counts=names,
        block_size=page.now.block_size,
        prefix_caching=_BOOLEANS.get(str(page.config.get("enable_prefix_caching")).lower()),
        running=page.now.running,
    )


_NO_COUNTERS = (
    "Is it a router's page, or was the engine started with --disable-log-stats (SGLang: without --enable-metrics)? "
    "Name the engine's own. Ray's page has other names, which labkit does not read."
)
