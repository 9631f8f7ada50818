"""A run as a page shows it, finished or not: how far it is, what was refused, and what it has measured so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from labkit.analysis.arms import arm_table
from labkit.core.arms import ARMS
from labkit.core.progress import Progress
from labkit.core.records import RunInfo
from labkit.experiments.compared import Part, is_toggled, parts, sent
from labkit.experiments.own_ways import same_requests
from labkit.experiments.so_far import since_resumed
from labkit.experiments.words import recordings_in_words
from labkit.store.runs import Run

LIVE = "live"
_LOST = ("refused", "engine_died")
Events = Sequence[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RunView:
    """What is known of a run now. `log_tail`: arm to its engine's last lines.

    `refused`: arm to the engine's words where it never served; `died`: the same where it served and then ended.
    `paired`: whether its arms sent the same requests.
    """

    info: RunInfo
    progress: Progress | None
    steps: pd.DataFrame
    chunks: pd.DataFrame
    refused: dict[str, str] = field(default_factory=dict)
    died: dict[str, str] = field(default_factory=dict)
    log_tail: dict[str, Sequence[str]] = field(default_factory=dict)
    paired: bool = True

    @property
    def live(self) -> bool:
        """Whether the run still goes on."""
        return self.info.state == "running"

    @property
    def arms(self) -> list[str]:
        """The arms that were asked for; of a live run, those that it was steered to as well, in order."""
        asked = list(self.info.asked.get("arms", ()))
        steered = self.steps["arm"].unique() if self.info.experiment == LIVE else ()
        return list(dict.fromkeys([*asked, *map(str, steered)]))

    @property
    def summary(self) -> str:
        """What was measured, on what, in one line."""
        rows = self.table()
        asked = self.info.asked
        n = int(rows["n_steps"].sum())
        steps = f"{n} {'step' if n == 1 else 'steps'} measured, {rows['n_failed'].sum()} failed"
        if toggled := int(is_toggled(sent(self.info, self.steps)).sum()):
            steps += f", {toggled} more after a toggle"
        what = recordings_in_words(asked) or asked.get("task") or self.info.experiment
        under = ", ".join(self.arms or [arm.label for arm in ARMS if (self.steps["arm"] == arm.label).any()])
        return f"{what} under {under}: {steps}" if under else f"{what}: {steps}"

    def table(self) -> pd.DataFrame:
        """One row per arm, as labkit.analysis.arms.arm_table has it: of the cold passes, where there are any."""
        return self._table

    @cached_property
    def _table(self) -> pd.DataFrame:
        return arms_of_part(parts(self.info, self.steps, self.chunks)[0], self.paired)


def arms_of_part(part: Part, paired: bool) -> pd.DataFrame:
    """The arm table of a part; without ratios where no two arms sent the same requests (`own_ways`)."""
    table = arm_table(part.steps, part.chunks)
    return table if paired else table.assign(ratio_to_base=np.nan, n_pairs=0)


def view(run: Run) -> RunView:
    """Read the run's folder, whole. Who looks again and again holds the run open: `dashboard.opened`."""
    return view_of(run.info, run.events(), run.steps(), run.chunks())


def view_of(info: RunInfo, events: Events, steps: pd.DataFrame, chunks: pd.DataFrame) -> RunView:
    """The view of a run that has been read already; of `events`, neither chunks nor telemetry are needed."""
    lost = _lost(since_resumed(events))
    words = {arm: str(event.get("message", "")) for arm, event in lost.items()}
    died = {arm for arm, event in lost.items() if _served(events, event)}
    return RunView(
        info=info,
        progress=last_progress(events),
        steps=steps,
        chunks=chunks,
        refused={arm: said for arm, said in words.items() if arm not in died},
        died={arm: said for arm, said in words.items() if arm in died},
        log_tail={arm: list(event.get("log_tail", ())) for arm, event in lost.items()},
        paired=same_requests(info, events),
    )


def _lost(events: Events) -> dict[str, dict[str, Any]]:
    """Arm to the event of its loss; not of one that a live run turned to again later."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["type"] in _LOST:
            found[event["arm"]] = event
        elif event["type"] == "switch":
            found.pop(event["arm"], None)
    return found


def _served(events: Events, lost: dict[str, Any]) -> bool:
    """Whether the engine that was lost had served this pass: it may have died before its first step was over."""
    return lost["type"] == "engine_died" or any(
        event["type"] == "serving" and (event["arm"], event["repeat"]) == (lost["arm"], lost.get("repeat"))
        for event in events
    )


def last_progress(events: Iterable[dict[str, Any]]) -> Progress | None:
    """What the run said last about how far it is; None when it has not said anything."""
    said = [event for event in events if event["type"] == "progress"]
    if not said:
        return None
    last: dict[str, Any] = {name: said[-1].get(name) for name in ("stage", "message", "done", "total", "eta_s")}
    return Progress(**last)
