"""Engines that a killed run left up: ended before it goes on, since an idle engine takes time from the measured one."""

from __future__ import annotations

import contextlib

from labkit.core.errors import EngineBusy, UnknownName
from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine
from labkit.store.layout import SAME_PROCESS_S
from labkit.store.runs import Run


def end_left_behind(fleet: Fleet, run: Run) -> list[str]:
    """End what the run's writer started and nobody else wants; ids of what was ended. A writer that lives is let be."""
    ended = []
    for engine in fleet.ps():
        if _from(run, engine) and not fleet.adopted(engine):
            with contextlib.suppress(EngineBusy, UnknownName):  # somebody uses it, or has just ended it
                ended += [each.id for each in fleet.down(engine.id)]
    return ended


def _from(run: Run, engine: Engine) -> bool:
    writer = run.writer
    if writer is None or run.live or writer.alive():
        return False
    return engine.owner.pid == writer.pid and abs(engine.owner.created - writer.started) < SAME_PROCESS_S
