"""Which arms a run is about, and what a toggle may say of engines that the run itself holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pandas as pd

from labkit.analysis.tables import measured
from labkit.core.arms import LAYERS, Arm
from labkit.core.records import RunInfo
from labkit.engines.fleet import Fleet
from labkit.experiments import ending
from labkit.experiments.arm_state import ArmState
from labkit.experiments.dashboard.opened import Opened


def newest_arm(opened: Opened) -> str:
    """The arm of the step that was sent last, else the last one that was asked for; empty where there is neither."""
    return _last(measured(opened.steps)) or (opened.view.arms or [""])[-1]


def newest_counted(opened: Opened) -> str:
    """The same of steps that count: an arm that was only toggled to is in no figure of sums."""
    return _last(opened.counted) or newest_arm(opened)


def _last(steps: pd.DataFrame) -> str:
    return str(steps.sort_values("t_send")["arm"].iloc[-1]) if len(steps) else ""


def as_its_run_sees(states: Sequence[ArmState], run_id: str) -> list[ArmState]:
    """An engine that this run holds is busy for everybody else; for a toggle of this very run it is warm.

    One that is up and free has served nothing of this run yet, so the first toggle to it may wait for a warm-up.
    """
    return [_seen_by(state, run_id) for state in states] if run_id else list(states)


def _seen_by(state: ArmState, run_id: str) -> ArmState:
    if state.kind == "busy" and run_id in state.words:
        return dataclasses.replace(state, kind="warm", words="warm (held by this run)")
    if state.kind == "warm":
        return dataclasses.replace(state, words="up (this run may warm it up first)")
    return state


def flips(arm: Arm) -> list[str]:
    """Labels of the arms that one toggle leads to."""
    return [dataclasses.replace(arm, **{layer: not getattr(arm, layer)}).label for layer in LAYERS]


def one_flip_away(states: Sequence[ArmState]) -> str:
    """`One flip away: spec warm, pd cold (starts in ~40 s).`; empty without states."""
    said = [f"{state.arm} {state.words}" for state in states]
    return f"One flip away: {', '.join(said)}." if said else ""


def shared_words(states: Sequence[ArmState]) -> str:
    """In plain words, that an arm without prefix caching is served by the engine of the arm with it."""
    shared = [state.arm for state in states if state.how]
    return " ".join(f"{arm} runs on an engine that can cache prefixes, and reuses none there." for arm in shared)


def endings(fleet: Fleet) -> list[str]:
    """Of each engine that a page is ending, or could not end: a sentence."""
    going = [f"{engine.plan.arm} is being ended." for engine in fleet.ps() if ending.is_ending(engine.id)]
    stays = [
        f"{engine.plan.arm} could not be ended: {why}" for engine in fleet.ps() if (why := ending.failure(engine.id))
    ]
    return going + stays


def can_repeat(info: RunInfo) -> bool:
    """Whether the run asked about one recording, or live agents about one task: what a live run can ask again."""
    return bool(info.asked.get("recording") or (info.experiment == "live" and info.asked.get("task")))
