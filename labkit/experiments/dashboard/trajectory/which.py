"""Which trajectories a run has: one agent's steps from its first request to its last, under its planned arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.tables import measured
from labkit.core.conditions import toggled_from
from labkit.core.records import Record
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.warmup import TASK
from labkit.plots.theme import arm_order

FIELDS = ("arm", "recording", "task", "agent", "repeat", "cache", "condition")
"""What tells trajectories of a run apart, in the order in which a page asks; each is a parameter of its address."""


@dataclass(frozen=True, kw_only=True)
class Which(Record):
    """One trajectory. `arm`: the planned one; a toggle may have had others serve some of its steps.

    `recording` is empty where an agent worked live. Texts throughout: they stand in an address.
    """

    arm: str
    recording: str
    task: str
    agent: str
    repeat: str
    cache: str
    condition: str


def trajectories(opened: Opened) -> tuple[Which, ...]:
    """Every trajectory with a step that counts, in the lab's order of arms and then as they were made.

    A run that has nothing but warm-up has none.
    """
    rows = planned(opened.steps)
    if not len(rows):
        return ()
    names = list(FIELDS)
    found = measured(rows).drop_duplicates(names)[names].astype({"repeat": str}).to_dict("records")
    made = [Which(**{str(name): str(value) for name, value in row.items()}) for row in found]
    place = {arm: n for n, arm in enumerate(arm_order({which.arm for which in made}))}
    return tuple(sorted(made, key=lambda which: place.get(which.arm, len(place))))


def planned(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps, warm-up of an engine left out, under the arm that their trajectory was planned for.

    A step that another arm served says in its condition for which arm it was planned. `served` is who served it.
    """
    rows = steps[steps["task"] != TASK]
    origin = rows["condition"].map(toggled_from)
    toggled = origin != ""
    return rows.assign(
        served=rows["arm"], arm=rows["arm"].mask(toggled, origin), condition=rows["condition"].mask(toggled, "")
    )


def rows_of(opened: Opened, which: Which) -> pd.DataFrame:
    """The steps of one trajectory, one a turn: the one that counts where a turn was also made for warm-up."""
    rows = planned(opened.steps)
    same = pd.Series(True, rows.index)
    for name, value in which.to_dict().items():
        same &= rows[name].astype(str) == value
    order = rows[same].sort_values(["turn", "warmup", "t_send"], ascending=[True, False, True])
    return order.drop_duplicates("turn", keep="last").reset_index(drop=True)


def choices(all_of_them: Sequence[Which], chosen: Mapping[str, str], name: str) -> list[str]:
    """What may be chosen for this field, once the fields before it are chosen."""
    before = FIELDS[: FIELDS.index(name)]
    open_ = [which for which in all_of_them if all(getattr(which, field) == chosen[field] for field in before)]
    return list(dict.fromkeys(getattr(which, name) for which in open_))


def address(served: Mapping[str, str]) -> dict[str, str]:
    """The address of a step's trajectory from what its own row says: under the arm that was planned, not toggled to."""
    origin = toggled_from(served.get("condition", ""))
    rest = {name: value for name, value in served.items() if name != "condition"}
    return {**rest, "arm": origin} if origin else dict(served)


def beside(all_of_them: Sequence[Which], which: Which) -> list[str]:
    """The other arms that have this very trajectory, in the lab's order."""
    return [other.arm for other in all_of_them if other != which and dataclasses.replace(other, arm=which.arm) == which]
