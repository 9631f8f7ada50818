"""What is under way in a run that goes on: steps that were sent and have no row yet, from its `sent` events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_KEY = ("agent", "turn", "repeat", "task", "recording", "condition")


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A step that has left and not come back. `t`, `now`: seconds since the run's start."""

    agent: str
    arm: str
    turn: int
    kind: str
    t: float
    now: float

    @property
    def words(self) -> str:
        """`turn 3, act, under prefix: under way for 2.1 s`."""
        return f"turn {self.turn}, {self.kind}, under {self.arm}: under way for {self.now - self.t:.1f} s"


def in_flight(events: Iterable[Mapping[str, Any]]) -> list[Sent]:
    """In the order in which they were sent. Runs of experiments that do not say what they send have none."""
    waiting: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    now = 0.0
    for event in events:
        now = max(now, float(event["t"]))
        if event["type"] == "sent":
            waiting[_key(event)] = event
        elif event["type"] == "step":
            waiting.pop(_key(event["step"]), None)
        elif event["type"] in ("resume", "engine_died"):
            waiting.clear()
    return [
        Sent(agent=str(each["agent"]), arm=str(each["arm"]), turn=int(each["turn"]), kind=str(each["kind"]),
             t=float(each["t"]), now=now)
        for each in waiting.values()
    ]  # fmt: skip


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in _KEY)
