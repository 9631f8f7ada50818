"""How many agents does each arm serve well enough, for the objective that somebody moves: from the run's own rows.

The times of every request are looked up once for a run (`served_of`); an objective is then put to them, not to the
chunks, so that a moved slider is answered at once.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from labkit.analysis.capacity import MIN_SENT, CapacityRow, capacity_of
from labkit.analysis.concurrency import windows
from labkit.analysis.format import missing, percent, plain, seconds
from labkit.analysis.goodput import GoodputRow, goodput_of
from labkit.analysis.served import Served, served
from labkit.analysis.slo import Slo
from labkit.core.records import RunInfo
from labkit.experiments.catalogue import DEFAULT_PROFILE, experiment
from labkit.experiments.dashboard.money.kept_by import headline, kept_by
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.words import command_of, slo_of
from labkit.plots.capacity import CapacityInfo, capacity_info
from labkit.plots.theme import arm_order

TTFT_S = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0,
          8.0, 10.0, 15.0, 20.0, 30.0, 60.0)  # fmt: skip
PACE_S = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
"""What the sliders offer beside what the run itself was asked about."""


LEVELS = (
    "arm",
    "agents at once",
    "kept / sent",
    "share",
    "95 % interval",
    "TTFT p90",
    "ITL p99",
    "kept per s",
    "holds",
)
"""Columns of the table of levels."""


@dataclass(frozen=True, kw_only=True)
class ArmAnswer:
    """One arm under one objective. `tile`: the number alone; `doubt`: why it is too few to tell, or empty."""

    arm: str
    tile: str
    words: str
    doubt: str
    found: CapacityRow


@dataclass(frozen=True, kw_only=True)
class CapacityView:
    """What the page says of one objective. `cells`: text by LEVELS, arms in the lab's order, then by agents."""

    sentence: str
    answers: tuple[ArmAnswer, ...]
    cells: tuple[tuple[str, ...], ...]
    info: CapacityInfo


@dataclass(frozen=True, kw_only=True)
class Sliders:
    """What may be chosen, and where the sliders stand at first: at what the run was asked about."""

    ttft: tuple[float, ...]
    itl: tuple[float, ...]
    asked: Slo
    own: bool


def served_of(opened: Opened) -> Served | None:
    """The run's requests under load; None when no window of it is over."""
    spans = windows(opened.events)
    known = spans[spans["arm"].isin(arm_order(spans["arm"]))]
    return served(opened.steps, opened.chunks, known) if len(known) else None


def sliders(info: RunInfo) -> Sliders:
    """`own`: the run was asked about an objective; else that of `labkit run capacity` stands there at first."""
    asked = slo_of(info)
    return Sliders(
        ttft=tuple(sorted({*TTFT_S, asked.ttft_s})),
        itl=tuple(sorted({*PACE_S, asked.itl_s})),
        asked=asked,
        own=info.experiment == "capacity",
    )


def answered(load: Served, slo: Slo) -> CapacityView:
    """The most agents that keep `slo` in each arm, in numbers, sentences and a figure."""
    levels, found = goodput_of(load, slo), capacity_of(load, slo)
    of_level = tuple(GoodputRow.from_dict(_known(row)) for row in levels.to_dict("records"))
    answers = tuple(_answer(CapacityRow.from_dict(_known(row)), of_level) for row in found.to_dict("records"))
    return CapacityView(
        sentence=headline([answer.found for answer in answers], of_level, slo),
        answers=answers,
        cells=tuple(map(_cells, of_level)),
        info=capacity_info(levels, found, slo),
    )


def _cells(row: GoodputRow) -> tuple[str, ...]:
    failed = f" ({row.n_failed} failed)" if row.n_failed else ""
    return (
        row.arm,
        f"{row.agents}",
        f"{row.n_good} / {row.n_sent}{failed}",
        percent(row.attainment),
        f"{percent(row.low)} to {percent(row.high)}",
        seconds(row.ttft_p90_s),
        seconds(row.itl_p99_s),
        plain(row.good_per_s),
        "yes" if row.holds else "no",
    )


def ask_for_it(info: RunInfo) -> str:
    """The command that measures the arms of this run under load, base among them."""
    arms = arm_order({"base", *(info.asked.get("arms") or [info.asked.get("arm", "")])})
    params = {"profile": str(info.asked.get("profile", DEFAULT_PROFILE)), "arms": tuple(arms)}
    asks = experiment("capacity")
    differing = {name: value for name, value in params.items() if value != asks.all_defaults[name]}
    return shlex.join(["labkit", *command_of(asks, differing)])


def _known(row: dict[object, object]) -> dict[str, object]:
    return {str(name): None if missing(value) else value for name, value in row.items()}


def _answer(found: CapacityRow, levels: tuple[GoodputRow, ...]) -> ArmAnswer:
    count = f"≥ {found.agents}" if found.at_least else f"{found.agents}" if found.agents else "< 1"
    tile = f"{count} agent{'s' * (count not in ('1', '< 1'))}"
    return ArmAnswer(arm=found.arm, tile=tile, words=kept_by(found, levels), doubt=_doubt(found, levels), found=found)


def _doubt(found: CapacityRow, levels: tuple[GoodputRow, ...]) -> str:
    if not found.too_few:
        return ""
    near = min((row for row in levels if row.arm == found.arm), key=lambda row: _far(row, found))
    counted = f"{near.n_sent} request{'s' * (near.n_sent != 1)} with {near.agents} agent{'s' * (near.agents != 1)}"
    return f"too few to tell: {counted}, {MIN_SENT} are needed next to the answer"


def _far(row: GoodputRow, found: CapacityRow) -> tuple[bool, int]:
    """The level nearest to the answer, one with too few requests first."""
    return row.n_sent >= MIN_SENT, abs(row.agents - found.agents)
