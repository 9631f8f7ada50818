"""Where the next steps of a live run go, in words: what was wished for by a toggle, and what became of it.

The run's events say it (`lap`, `steer`, `switch`, `refused`, `engine_died`, `progress`), so every tab and a terminal
read the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from labkit.analysis.format import seconds
from labkit.core.progress import Progress

Kind = Literal["serving", "waiting", "refused"]
_LOST = ("refused", "engine_died")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """`arm`: the one that serves, or is wished for. `said`: one line for the page."""

    arm: str
    kind: Kind
    said: str


def wish(events: Sequence[Mapping[str, Any]]) -> Wish | None:
    """Of a run that goes on; None before an arm has served: until then its progress says all."""
    served, wished, lost, stage = "", "", None, None
    how = ""
    for event in events:
        kind = event["type"]
        if kind == "switch":
            served, how, lost, stage = event["arm"], _how(event), None, None
            wished = "" if wished == served else wished
        elif kind == "serving" and not served:
            served = event["arm"]
        elif kind == "steer":
            wished, lost, stage = "" if event["arm"] == served else event["arm"], None, None  # it breaks off a start
        elif kind in _LOST:
            lost = event
            wished = "" if wished == event["arm"] else wished
        elif kind == "progress":
            stage = event
    return _said(served, wished, how, lost, stage)


def _said(
    served: str, wished: str, how: str, lost: Mapping[str, Any] | None, stage: Mapping[str, Any] | None
) -> Wish | None:
    now = Progress(stage=str(stage["stage"]), message=str(stage.get("message") or "")) if stage else None
    if now and served and now.stage.startswith(("starting ", "warming up ")):
        return Wish(arm=now.stage.rsplit(" ", 1)[-1], kind="waiting", said=f"{now.said}; agents wait")
    if wished:
        return Wish(arm=wished, kind="waiting", said=f"asked for {wished}: the next steps go there")
    if lost is not None:
        word = "refused" if lost["type"] == "refused" else "died"
        on = f"; the run goes on under {served}" if served else ""
        return Wish(arm=served, kind="refused", said=f"{lost['arm']} {word}: {lost.get('message', '')}{on}")
    if served:
        return Wish(arm=served, kind="serving", said=f"next steps: {served}{how}")
    return None


def _how(switch: Mapping[str, Any]) -> str:
    """The run's first arm needs no word: nobody asked for it with a toggle."""
    if not switch.get("was"):
        return ""
    if switch.get("warm") and not switch.get("warmed"):
        return " (warm)"
    how = "warmed up" if switch.get("warm") else "started"
    waited = f", agents waited {seconds(float(switch['waited_s']))}" if switch.get("waited_s") else ""
    return f" ({how}{waited})"
