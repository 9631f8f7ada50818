"""Did a cold pass begin cold, and did an engine start anew on the way? Read from what the run folder holds.

Two witnesses. The requests: the first of a cold pass, under a salt that no request had before, must find nothing in the
cache. The engine: its counters before the first request of the block say whether it had ever served anything from its
cache. Where the engine tells neither, cold stays unconfirmed, and the reason is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.counter_events import without_void
from labkit.analysis.tables import measured
from labkit.core.columns import column
from labkit.core.records import Record
from labkit.experiments.first_counters import NAMES
from labkit.store.runs import Run

Events = Sequence[Mapping[str, Any]]
_PROOF_REQUESTS = 1
"""What the fleet asks of an engine before it takes it for ready."""


@dataclass(frozen=True, kw_only=True)
class ColdEvidence(Record):
    """What speaks for one arm's block having begun cold. `found`: its first requests did find something: it had not."""

    arm: str = column("string", "", "label of the arm")
    repeat: int = column("int64", "", "block of this arm, from 0")
    state: str = column("string", "", "`confirmed` or `unconfirmed`")
    why: str = column("string", "", "what was seen, or what is missing")
    found: bool = column("bool", "", "the first request of a cold pass was served from the cache", default=False)


@dataclass(frozen=True, kw_only=True)
class Reset(Record):
    """Counters of one process that began again at 0 while it was measured."""

    arm: str
    repeat: int
    role: str
    why: str


def cold_evidence(run: Run) -> list[ColdEvidence]:
    """One entry per arm and repeat that has a measured cold pass, in the order of measurement."""
    return evidence(run.steps(), run.events())


def evidence(steps: pd.DataFrame, events: Events) -> list[ColdEvidence]:
    """The same from the rows and the events."""
    steps, events = measured(steps), without_void(events)
    cold = steps[steps["cache"] == "cold"]
    blocks = cold[["arm", "repeat"]].drop_duplicates().itertuples(index=False)
    return [
        _of_block(arm, int(repeat), cold[(cold["arm"] == arm) & (cold["repeat"] == repeat)], events)
        for arm, repeat in blocks
    ]


def resets(events: Events) -> list[Reset]:
    """Every process whose counters fell, or whose start time changed, within a pass or between two of one engine."""
    found: list[Reset] = []
    engine, last = "", dict[tuple[str, str], Mapping[str, Any]]()
    for event in events:
        if event["type"] == "serving":
            engine = str(event["engine"])
        if event["type"] not in ("first_counters", "counters"):
            continue
        read = str(event.get("engine", engine))  # a live run reads the engine before after it has turned to the next
        for role, said in event.get("processes", {}).items():
            before = said.get("before", said)
            why = said.get("restarted") or _fell(last.get((read, role), {}), before)
            if why:
                found.append(Reset(arm=event["arm"], repeat=event["repeat"], role=role, why=str(why)))
            last[read, role] = {**last.get((read, role), {}), **said.get("after", said)}
    return found


def _fell(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Why the two readings are not of one process; empty when nothing speaks for it."""
    for name in ("started", *NAMES):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None and (new != old if name == "started" else new < old):
            return f"{name} went from {old:g} to {new:g}"
    return ""


def _of_block(arm: str, repeat: int, rows: pd.DataFrame, events: Events) -> ColdEvidence:
    firsts = rows[rows["turn"] == 1]  # of an agent among several it may lie in the ramp, which does not count
    answered = firsts[firsts["error"].isna()]
    tokens = answered["cached_tokens"]
    fresh, said = _engine(arm, repeat, events)
    if (tokens > 0).any():
        worst = answered.sort_values("cached_tokens", na_position="first").iloc[-1]
        why = f"turn 1 of {worst['recording'] or worst['task']} found {worst['cached_tokens']} tokens in the cache"
        return ColdEvidence(arm=arm, repeat=repeat, state="unconfirmed", why=why, found=True)
    if len(tokens) and tokens.notna().all():
        seen = "turn 1 of every cold pass found nothing in the cache"
        return ColdEvidence(arm=arm, repeat=repeat, state="confirmed", why=f"{seen}; {said}" if said else seen)
    if fresh and len(firsts) == 1:
        return ColdEvidence(arm=arm, repeat=repeat, state="confirmed", why=said)
    missing = "the engine does not say what turn 1 found in its cache" if len(answered) else "no first request ended"
    return ColdEvidence(arm=arm, repeat=repeat, state="unconfirmed", why="; ".join(filter(None, (missing, said))))


def _engine(arm: str, repeat: int, events: Events) -> tuple[bool, str]:
    """Whether the engine was fresh when the block first began, and what its counters said then, in words."""
    for event in events:
        if event["type"] == "first_counters" and (event["arm"], event["repeat"]) == (arm, repeat):
            return _fresh(event["processes"].values())
    return False, ""


def _fresh(processes: Iterable[Mapping[str, Any]]) -> tuple[bool, str]:
    readings = list(processes)
    if not readings or any(one.get("prefix_hits") is None or one.get("requests") is None for one in readings):
        return False, ""
    hits, requests = (max(one[name] for one in readings) for name in ("prefix_hits", "requests"))
    if hits == 0 and requests <= _PROOF_REQUESTS:
        zero = "its counters were at zero" if requests == 0 else "it had made one token, to prove that it serves"
        return True, f"the engine was fresh: {zero}"
    return False, f"the engine had served {requests:.0f} requests and {hits:.0f} tokens from its cache before"
