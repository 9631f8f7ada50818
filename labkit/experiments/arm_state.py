"""What a toggle may say about its arm: the state of the engine that would serve it, never more than is known.

warm       an engine of this very plan is up and free: a run starts at once
busy       it is up, and somebody holds it
starting   somebody is starting it
refused    the newest run or start could not have this very engine, in the engine's own words
cold       none of these: a run has to start it first

`arm_states` looks (at the fleet), `state_of` decides; only the second has rules, and it is pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from labkit.core.arms import arm_named
from labkit.core.clock import Clock, SystemClock
from labkit.engines.fleet import Fleet
from labkit.engines.plan_records import Plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine
from labkit.experiments.fleet_provider import FleetProvider

Kind = Literal["warm", "busy", "starting", "refused", "cold"]


@dataclass(frozen=True, kw_only=True)
class ArmState:
    """One arm's state. `words` is what is shown; `how` says how prefix caching is switched, when that needs saying."""

    arm: str
    kind: Kind
    words: str
    how: str = ""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was looked up, at `now` (seconds since the epoch).

    `held`: engine id to owner; `refused`: arm to words; `warming`: arms whose start began and is not registered yet.
    """

    engines: Sequence[Engine]
    now: float
    held: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    warming: Collection[str] = ()


def arm_states(
    fleet: Fleet,
    profile: str,
    arms: Sequence[str],
    refused: Mapping[str, str],
    warming: Collection[str] = (),
    clock: Clock | None = None,
) -> list[ArmState]:
    """The states of these arms under a profile, as a run that switches by salt would find them.

    `refused`: arm to the engine's words, from the newest run or start. Raises UnknownName.
    """
    provider = FleetProvider(fleet, load_profile(profile))
    plans = [provider.plan(arm_named(arm)) for arm in arms]
    engines, now = fleet.ps(), (clock or SystemClock()).wall().timestamp()
    held = {engine.id: owner for engine in engines if (owner := fleet.holder(engine))}
    seen = Seen(engines=engines, now=now, held=held, refused=refused, warming=warming)
    return [state_of(plan, fleet.expected_s(plan), seen) for plan in plans]


def state_of(plan: Plan, expected_s: float, seen: Seen) -> ArmState:
    """The state of the plan's arm. `expected_s`: how long a start takes."""
    same = [engine for engine in seen.engines if engine.plan.key == plan.key]
    up = [engine for engine in same if engine.status == "up"]
    starting = [engine for engine in same if engine.status == "starting"]
    if up:
        kind, words = _warm_or_busy(up, seen.held)
    elif starting:
        kind, words = "starting", f"starting ({_age_s(starting[0], seen.now):.0f} s of ~{expected_s:.0f} s)"
    elif plan.arm in seen.warming:
        kind, words = "starting", f"starting (of ~{expected_s:.0f} s)"
    elif plan.arm in seen.refused:
        kind, words = "refused", f"refused: {seen.refused[plan.arm]}"
    else:
        kind, words = "cold", f"cold (starts in ~{expected_s:.0f} s){_remains(same)}"
    return ArmState(arm=plan.arm, kind=kind, words=words, how=_how(plan))


def busy_words(states: Sequence[ArmState]) -> str:
    """Why a run of these arms would fail at once: `prefix is busy: held by run 7f3a`; empty when nobody is."""
    return "; ".join(f"{state.arm} is {state.words}" for state in states if state.kind == "busy")


def _warm_or_busy(up: Sequence[Engine], held: Mapping[str, str]) -> tuple[Kind, str]:
    free = [engine for engine in up if engine.id not in held]
    if free:
        return "warm", "warm"
    return "busy", f"busy: held by {held[up[0].id]}"


def _age_s(engine: Engine, now: float) -> float:
    """Seconds since the first process of the engine was started; 0 before there is one."""
    return max(0.0, now - min((process.created for process in engine.processes), default=now))


def _remains(same: Sequence[Engine]) -> str:
    """A registered engine that does not serve is worth a word: its log is still there."""
    dead = [engine for engine in same if engine.status in ("dead", "orphaned")]
    return f"; its last engine is {dead[-1].status}" if dead else ""


def _how(plan: Plan) -> str:
    if not plan.salted:
        return ""
    return "no caching by a fresh cache_salt on every request: it shares the engine of the arm with prefix caching"
