"""What can be run here and what cannot, of one profile: derived from its checks, never from a list of machines."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

from labkit.core.arms import ARMS, LAYERS
from labkit.doctor.records import Check, Runnable, Stop

ALL = tuple(arm.label for arm in ARMS)
_SHOWN, _WIDTH = 2, 120
"""How many reasons a line tells, and how long each may be."""
_FIRST = ("GPU node", "memory", "transfer")
"""Areas whose reasons come first: what is not installed matters little where there is no GPU to run it on."""
_WITHOUT_ONE = "labkit plan and labkit matrix still work."
_COUNTS = {1: "the arm", 2: "the two arms", 4: "the four arms", 6: "the six arms"}


def with_layer(layer: str) -> tuple[str, ...]:
    """Labels of the arms that have a layer."""
    return tuple(arm.label for arm in ARMS if layer in arm.layers)


def runnable(profile: str, checks: Sequence[Check]) -> Runnable:
    """What is left of the eight arms when every check has said which it stops."""
    stops = tuple(
        Stop(check=check.name, found=check.found, command=check.command, arms=arms)
        for check in sorted(checks, key=lambda check: check.area not in _FIRST)
        if (arms := _stopped(check))
    )
    left = tuple(arm for arm in ALL if not any(arm in stop.arms for stop in stops))
    return Runnable(profile=profile, arms=left, stops=stops, sentence=_sentence(left, stops))


def cannot_tell(profile: str, why: str) -> Runnable:
    """Of a profile that makes no plan at all."""
    stop = Stop(check="Profile", found=why, command=f"labkit plan --profile {profile}", arms=ALL)
    return Runnable(profile=profile, arms=(), stops=(stop,), sentence=f"none: {why}")


def _stopped(check: Check) -> tuple[str, ...]:
    if check.stops is not None:
        return check.stops
    return ALL if check.status == "fail" else ()


def _sentence(left: tuple[str, ...], stops: Sequence[Stop]) -> str:
    if left == ALL:
        return "all eight arms"
    reasons = _reasons(stops)
    if not left:
        return f"none: {reasons}. {_WITHOUT_ONE}"
    lost = tuple(arm for arm in ALL if arm not in left)
    return f"{grouped(left)}; not {grouped(lost)}: {reasons}"


def grouped(arms: tuple[str, ...]) -> str:
    """Arms by the layer that they share, else by their labels: `the four arms with pd_split`."""
    for layer in LAYERS:
        having = with_layer(layer)
        if arms == having:
            return f"{_COUNTS[len(arms)]} with {layer}"
        if arms == tuple(arm for arm in ALL if arm not in having):
            return f"{_COUNTS[len(arms)]} without {layer}"
    return ", ".join(arms)


def _reasons(stops: Sequence[Stop]) -> str:
    """What stops most arms first."""
    ordered = sorted(stops, key=lambda stop: -len(stop.arms))
    words = [shorten(f"{stop.check}: {stop.found}", _WIDTH, placeholder=" ...") for stop in ordered[:_SHOWN]]
    return "; ".join(words) + (f"; and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else "")
