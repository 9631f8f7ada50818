"""The engine's own counters around each step and around the whole block, every process read.

One request is in flight at a time, so what a counter grew by between two readings belongs to the step in between. Only
the counters tell how many tokens prefill handed to decode, how long that took, and in a split engine each side's own
seconds: the reply knows only decode's.

Three clocks. The core's own: queue (put into the waiting queue to scheduled), prefill (to the first token) and decode
(to the last). The engine's HTTP server's: arrival of the request to its last token there. The client's: send to last
byte. What the server took beyond the core is `server_s`: template, tokenizer, grammar, the way to the core and back.
A decode process waits for the transfer in its queue, so that the transfer's time is taken out of the queue's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineError
from labkit.experiments.rows import Around
from labkit.experiments.seen import UNKNOWN, ServedBy, served_by
from labkit.telemetry.engine_metrics import Counts, Snapshot, delta, scrape

_SETTLE_TRIES = 6
_SETTLE_S = 0.05
"""An engine counts a finished request a moment after the client has its last byte: look again, up to 0.3 s."""

Page = Mapping[str, Snapshot]


class Meter:
    """Readings of every process of one engine. Made by `started`; an engine without metrics gives nulls."""

    def __init__(self, urls: Mapping[str, str], clock: Clock, first: Page) -> None:
        self._urls, self._clock = urls, clock
        self._first = self._last = first
        self.by: ServedBy = UNKNOWN
        """Who served the step of the last lap."""

    @classmethod
    async def started(cls, urls: Mapping[str, str], clock: Clock | None = None) -> Meter:
        """With a first reading. `urls`: role to /metrics."""
        clock = clock or SystemClock()
        return cls(urls, clock, await _read(urls, clock))

    async def lap(self) -> Around:
        """What the counters say about the step since the last reading."""
        for _ in range(_SETTLE_TRIES):
            page = await _read(self._urls, self._clock)
            counts = _counts(self._last, page)
            if not counts or _settled(counts):
                break
            await asyncio.sleep(_SETTLE_S)
        self._last = page
        self.by = served_by(self._urls, [role for role, each in counts.items() if each.requests == 1])
        return around(counts)

    def total(self) -> dict[str, Any]:
        """For each process: its counters at the first and the last reading, and their growth in between."""
        return {"processes": {role: self._of(role) for role in self._last if role in self._first}}

    def _of(self, role: str) -> dict[str, Any]:
        before, after = self._first[role], self._last[role]
        grown = delta(before, after)
        return {
            "before": _values(before),
            "after": _values(after),
            "growth": grown.counts.to_dict(),
            "seconds": round(grown.seconds, 6),
            "restarted": grown.why or None,
        }


def around(counts: Mapping[str, Counts]) -> Around:
    """One step's counters of all processes as fields of a step. Pure."""
    if any((each.requests or 0) > 1 for each in counts.values()):
        return Around()  # somebody else's request was counted, too: what is whose is not ours to guess
    if decode := counts.get("decode"):
        prefill = counts.get("prefill") or Counts()
        return Around(
            halves=True,
            transferred_tokens=decode.prompt_transferred,
            drafts=decode.drafts,
            drafted_tokens=decode.drafted_tokens,
            accepted_tokens=decode.accepted_tokens,
            server_s=_sum(_server_s(prefill), _server_s(decode)),
            queue_s=_sum(prefill.queue_s, _waited(decode)),
            prefill_s=_both(prefill.prefill_s, decode.prefill_s),
            transfer_s=decode.transfer_s,
            decode_s=decode.decode_s,
        )
    if len(counts) != 1:
        return Around()  # replicas: which one served the step is not ours to guess
    only = next(iter(counts.values()))
    return Around(
        drafts=only.drafts,
        drafted_tokens=only.drafted_tokens,
        accepted_tokens=only.accepted_tokens,
        server_s=_server_s(only),
        **(_times(only) if only.requests == 1 else {}),
    )


def _times(counts: Counts) -> dict[str, Any]:
    """For a reply that does not tell its own times."""
    return {"queue_s": counts.queue_s, "prefill_s": counts.prefill_s, "decode_s": counts.decode_s}


def _server_s(counts: Counts) -> float | None:
    """What the HTTP server took of a request beyond its core; never below 0, where two clocks differ by a hair."""
    parts = (counts.e2e_s, counts.queue_s, counts.prefill_s, counts.decode_s)
    if any(part is None for part in parts) or counts.requests != 1:
        return None
    e2e, queue, prefill, decode = (part or 0.0 for part in parts)
    return max(0.0, e2e - queue - prefill - decode)


def _waited(decode: Counts) -> float | None:
    """Decode's queue without the transfer that is waited for in it."""
    if decode.queue_s is None:
        return None
    return max(0.0, decode.queue_s - (decode.transfer_s or 0.0))


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _both(prefill_s: float | None, decode_s: float | None) -> float | None:
    """Decode computes the last prompt token itself before its first: that is prefill, too. None without prefill's."""
    return None if prefill_s is None else prefill_s + (decode_s or 0.0)


def _counts(before: Page, after: Page) -> dict[str, Counts]:
    return {role: delta(before[role], after[role]).counts for role in after if role in before}


def _settled(counts: Mapping[str, Counts]) -> bool:
    """Every side of a split engine, or any of several replicas, has counted its request."""
    counted = [bool(each.requests) or each.requests is None for each in counts.values()]
    return all(counted) if "decode" in counts else any(counted)


async def _read(urls: Mapping[str, str], clock: Clock) -> Page:
    """The pages that can be read; one that cannot is left out, and its numbers are null."""
    page = {}
    for role, url in urls.items():
        try:
            page[role] = await scrape(url, clock)
        except EngineError:
            continue
    return page


def _values(snapshot: Snapshot) -> dict[str, float | None]:
    return snapshot.counters
