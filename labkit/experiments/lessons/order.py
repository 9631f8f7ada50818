"""What to switch on, in which order: from base along the edges that are clearly better, the largest gain first.

Where no edge has a verdict, this says that it cannot tell, and why; it never falls back on the larger number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from labkit.core.arms import BASE, LAYERS, arm_named
from labkit.experiments.dashboard.compare.gain_words import Row, arm_in_words, briefly, evidence, gained, why_untold
from labkit.experiments.report.english import LAYER_NAMES, capital, records


@dataclass(frozen=True, kw_only=True)
class Order:
    """`way`: the edges to take, in order (rows of EdgeRow). `left`: those from its end on that are not worth taking.

    `only_together`: the arm (a row of ArmGainRow) that is clearly better than base although no way leads there.
    """

    way: tuple[Row, ...]
    left: tuple[Row, ...]
    only_together: Row | None = None

    @property
    def arm(self) -> str:
        """The arm to use, as far as can be told; base where nothing can."""
        if self.only_together is not None:
            return str(self.only_together["arm"])
        return str(self.way[-1]["end"]) if self.way else BASE.label


def order_of(edges: pd.DataFrame, gains: pd.DataFrame) -> Order:
    """`edges`: of `labkit.experiments.lessons.edges`; `gains`: `arm_gains`, for layers that pay together alone."""
    rows, at, way = records(edges), BASE.label, list[Row]()
    while better := [row for row in rows if row["start"] == at and _is_better(row)]:
        way.append(max(better, key=lambda row: float(row["gain"])))
        at = str(way[-1]["end"])
    jump = None if way else _jump(edges, gains)
    at = at if jump is None else str(jump["arm"])
    left = tuple(row for row in rows if row["start"] == at)
    return Order(way=tuple(way), left=left, only_together=jump)


def _is_better(row: Row) -> bool:
    return str(row["verdict"]).startswith("better")


def _jump(edges: pd.DataFrame, gains: pd.DataFrame) -> Row | None:
    """The arm of several layers that is better than base by most, on the metric of the edges."""
    metrics = set(edges["metric"])
    told = [
        row
        for row in records(gains)
        if row["metric"] in metrics and _is_better(row) and len(arm_named(row["arm"]).layers) > 1
    ]
    return max(told, key=lambda row: float(row["gain"]), default=None)


def in_words(order: Order) -> str:
    """The order in Markdown: a numbered line for each layer with its reason, then what to leave off and why."""
    lines = list(_way(order))
    lines += [f"- Leave {LAYER_NAMES[row['layer']]} off{_after(row)}: {_why_not(row)}" for row in order.left]
    measured = {*arm_named(order.arm).layers, *(row["layer"] for row in order.left)}
    never = [LAYER_NAMES[layer] for layer in LAYERS if layer not in measured]
    lines += [f"- {capital(name)} was not measured from there on, so nothing is said of it." for name in never]
    return "\n".join(lines)


def _way(order: Order) -> Iterator[str]:
    for number, row in enumerate(order.way, start=1):
        yield f"{number}. Switch on **{LAYER_NAMES[row['layer']]}**{_after(row)}: {gained(row)}, on {evidence(row)}."
    if order.only_together is not None:
        row = order.only_together
        name = arm_in_words(str(row["arm"]))
        yield f"Switch on **{name}**: {gained(row)}, on {evidence(row)}. Which of them first cannot be told."
    elif not order.way:
        yield "**Cannot tell an order.** No layer is clearly better than base by itself."
    yield ""


def _after(row: Row) -> str:
    return "" if row["start"] == BASE.label else f" after {row['start']}"


def _why_not(row: Row) -> str:
    verdict = str(row["verdict"])
    if verdict.startswith("worse"):
        return f"{gained(row)}."
    if verdict.startswith("same"):
        return f"it changes nothing worth having ({briefly(row)})."
    if verdict.startswith("not measured"):
        return "no request was measured in both."
    return f"too few to tell ({briefly(row)}): {why_untold(row)}."
