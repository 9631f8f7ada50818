"""What a run has done, from its events: which passes ended, which broke off, and how many steps each arm has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labkit.experiments.bystanders import MANY_CORES
from labkit.experiments.verdict import Tally

_BREAKS_OFF = ("engine_died", "refused", "resume", "pass_start")


@dataclass
class Before:
    """What a run had done when it was cut short. `half`: `pass_start` of what broke off, with `t_to`, its end (s)."""

    done: set[tuple[int, int]] = field(default_factory=set)
    half: list[dict[str, Any]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


def before(events: Sequence[Mapping[str, Any]]) -> Before:
    """From the run's events, in order."""
    found, begun = Before(), None
    for event in events:
        kind = event["type"]
        if begun and kind in _BREAKS_OFF:
            found.half.append({**begun, "t_to": event["t"]})
            begun = None
        if kind == "pass_start":
            begun = dict(event)
        elif kind == "pass_done":
            begun = None
            _count(found, event)
        elif kind == "void":
            found.half = [each for each in found.half if each["t"] != event["t_from"]]
        elif kind == "bystanders" and (event["cores"] or 0.0) > MANY_CORES:
            label = event.get("label", event["arm"])
            found.tally.disturbed[label] = max(event["cores"], found.tally.disturbed.get(label, 0.0))
    if begun:
        found.half.append({**begun, "t_to": None})
    return found


def _count(found: Before, done: Mapping[str, Any]) -> None:
    found.done.add((done["block"], done["pass"]))
    found.tally.measured[done["label"]] += done["measured"]
    found.tally.failed[done["label"]] += done["failed"]


def since_resumed(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events since the run was last resumed, or all: an arm that was lost before that was tried again."""
    places = [place for place, event in enumerate(events) if event["type"] == "resume"]
    return list(events[places[-1] if places else 0 :])
