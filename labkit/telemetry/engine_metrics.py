"""What an engine process did between two readings of its /metrics page.

Counters are read as deltas and per process: prefill's and decode's pages are both needed. A process that was started
anew in between has no delta: everything is None and the delta says so, since its counters began again at 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import aiohttp

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineError
from labkit.core.records import Record
from labkit.telemetry import names
from labkit.telemetry.engine_names import VLLM
from labkit.telemetry.exposition import Gauges, Key, Snapshot, parse, total, whole
from labkit.telemetry.series import EngineNames, Series

__all__ = ["Counts", "Delta", "Gauges", "Snapshot", "delta", "parse", "scrape"]


@dataclass(frozen=True, kw_only=True)
class Counts(Record):
    """Growth of the named series (names.py says which); None where the engine does not have one, or was restarted.

    Tokens unless the name says otherwise; `*_s` are sums over the requests that finished (or the transfers made) in
    between. `accepted_per_position`: from the first draft position on.
    """

    requests: int | None = None
    prefix_queries: int | None = None
    prefix_hits: int | None = None
    prompt_tokens: int | None = None
    prompt_computed: int | None = None
    prompt_cached: int | None = None
    prompt_transferred: int | None = None
    generation_tokens: int | None = None
    preemptions: int | None = None
    drafts: int | None = None
    drafted_tokens: int | None = None
    accepted_tokens: int | None = None
    accepted_per_position: tuple[int, ...] | None = None
    transfers: int | None = None
    transfer_bytes: int | None = None
    transfer_failures: int | None = None
    transfers_expired: int | None = None
    e2e_s: float | None = None
    queue_s: float | None = None
    prefill_s: float | None = None
    decode_s: float | None = None
    transfer_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Delta:
    """`seconds` between the readings. `restarted`: the process is not the one of the first reading; `why` in words.

    `engine`: whose names the series have.
    """

    seconds: float
    restarted: bool = False
    why: str = ""
    grown: dict[Key, float] = field(default_factory=dict)
    engine: EngineNames = VLLM

    def growth(self, series: Series) -> float | None:
        """The growth of one series, summed over its label sets; None when it is absent or the process was restarted."""
        return total(self.grown, series)

    @property
    def counts(self) -> Counts:
        """The named quantities."""
        counts = {name: whole(self.growth(series)) for name, series in self.engine.counts.items()}
        times = {name: self.growth(series) for name, series in self.engine.times.items()}
        return Counts.from_dict({**counts, **times, "accepted_per_position": self._per_position()})

    def _per_position(self) -> tuple[int, ...] | None:
        mine = {labels: v for (name, labels), v in self.grown.items() if name == self.engine.per_position}
        rows = {int(dict(labels)["position"]): value for labels, value in mine.items()}
        return tuple(round(rows[position]) for position in sorted(rows)) or None


def delta(before: Snapshot, after: Snapshot) -> Delta:
    """What happened from `before` to `after`. A series that is new in `after` started at 0."""
    seconds = after.t - before.t
    why = _restart(before, after)
    if why:
        return Delta(seconds=seconds, restarted=True, why=why, engine=after.engine)
    grown = {key: value - before.growing.get(key, 0.0) for key, value in after.growing.items()}
    return Delta(seconds=seconds, grown=grown, engine=after.engine)


def _restart(before: Snapshot, after: Snapshot) -> str:
    """Why these are two processes; empty when nothing speaks for it."""
    if before.started != after.started:
        return f"{names.START_TIME} went from {before.started} to {after.started}"
    if before.engine is after.engine and (name := after.engine.start):
        firsts, seconds = ({key: v for key, v in page.gauges.items() if key[0] == name} for page in (before, after))
        if firsts and firsts != seconds:
            return f"{name} is not that of the first reading"
    for key, value in before.growing.items():
        if after.growing.get(key, 0.0) < value:
            return f"{key[0]} fell from {value:g} to {after.growing.get(key, 0.0):g}"
    return ""


async def scrape(url: str, clock: Clock | None = None, timeout_s: float = 5) -> Snapshot:
    """Read and parse one page; `t` is when the answer was there. Raises EngineError when it cannot be read."""
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s)) as session,
            session.get(url) as response,
        ):
            response.raise_for_status()
            text = await response.text()
    except (aiohttp.ClientError, TimeoutError) as error:
        said = str(error) or f"no answer within {timeout_s} s"
        raise EngineError(f"The metrics at {url} cannot be read: {said}", "Is the engine up? See: labkit ps") from error
    return parse(text, (clock or SystemClock()).now())
