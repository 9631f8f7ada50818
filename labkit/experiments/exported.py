"""The tables that an export has beside the run's own: the numbers of every arm, cold and warm apart."""

from __future__ import annotations

from labkit.analysis.arms import ArmRow, arm_table
from labkit.experiments.compared import parts
from labkit.store.exports import Extra
from labkit.store.runs import Run

_NAMES = ("arms", "arms_warm")


def tables_of(run: Run) -> Extra:
    """`arms`, and `arms_warm` where there were warm passes."""
    found = parts(run.info, run.steps(), run.chunks())
    return {name: (arm_table(p.steps, p.chunks), ArmRow) for name, p in zip(_NAMES, found, strict=False)}
