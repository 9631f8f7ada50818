"""The machine's memory beside what the profile's engines would take of it."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.core.arms import arm_named
from labkit.doctor.facts_of_plans import needs, plans_of
from labkit.engines.fleet import Fleet
from labkit.engines.machine import usable_cores
from labkit.engines.memory import free_bytes, needed_bytes, total_bytes
from labkit.engines.profiles import load_profile
from labkit.experiments.dashboard.engines.cards import EngineCard
from labkit.experiments.fleet_provider import FleetProvider
from labkit.plots.engine_memory import EngineMemoryInfo, Taken, Wanted, engine_memory_info

_GIB = 1 << 30


def memory_of(fleet: Fleet, profile: str, cards: Sequence[EngineCard]) -> EngineMemoryInfo:
    """What is taken now, by whom, and which engines of the profile would fit. Raises UnknownName."""
    plans = plans_of(load_profile(profile), usable_cores())
    engines = fleet.ps()
    starting = {engine.plan.arm for engine in engines if engine.status == "starting"}
    wanted = [
        Wanted(arms=each.arms, needs=each.need, there="up" if each.up else "starting" * bool(starting & set(each.arms)))
        for each in needs(plans, engines)
    ]
    taken = [Taken(name=card.id.rsplit(".", 1)[-1], arm=card.arm, taken=card.rss) for card in cards]
    return engine_memory_info(total_bytes(), free_bytes(), taken, wanted)


def room_for(fleet: Fleet, profile: str, arm: str) -> str:
    """Why the engine of this arm does not fit beside what runs now; empty when it does. Raises UnknownName."""
    need, free = needed_bytes(FleetProvider(fleet, load_profile(profile)).plan(arm_named(arm))), free_bytes()
    return "" if need <= free else f"It needs {need / _GIB:.1f} GiB, and {free / _GIB:.1f} GiB are free."
