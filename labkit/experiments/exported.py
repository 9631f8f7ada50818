"""The tables that an export has beside the run's own: the numbers of every arm, cold and warm apart."""

from __future__ import annotations

from labkit.analysis.arms import ArmRow
from labkit.experiments.compared import parts
from labkit.experiments.own_ways import same_requests
from labkit.experiments.view import arms_of_part
from labkit.store.exports import Extra
from labkit.store.runs import Run

_NAMES = ("arms", "arms_warm")


def tables_of(run: Run) -> Extra:
    """`arms`, and `arms_warm` where there were warm passes."""
    found = parts(run.info, run.steps(), run.chunks())
    paired = same_requests(run.info, run.events())
    return {name: (arms_of_part(p, paired), ArmRow) for name, p in zip(_NAMES, found, strict=False)}
