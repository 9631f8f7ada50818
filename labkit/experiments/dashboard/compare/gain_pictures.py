"""Which figures and tables of gains are worth showing: none that says the same as another, none without a mark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from labkit.analysis.effects import Gains
from labkit.analysis.format import DASH, plain, seconds, times
from labkit.experiments.report.english import counted, interval, records, smallest, verdict_head
from labkit.plots.forest import ForestInfo, forest_info
from labkit.plots.interactions import InteractionsInfo, interactions_info
from labkit.plots.labels import term_label

TWO_TITLE = "What does run B gain over run A, and how sure is it?"
_UNITS = {"tokens_per_s": "tokens/s", "prompt_computed": "tokens"}


@dataclass(frozen=True, kw_only=True)
class GainPictures:
    """None: that figure would show nothing, or nothing else than another one."""

    layers: ForestInfo | None
    arms: ForestInfo | None
    interactions: InteractionsInfo | None


def gain_pictures(gains: Gains, metric: str) -> GainPictures:
    """The figures of one run on one metric."""
    layers, arms = (_forest(table, metric) for table in gains)
    if layers and arms and len(layers.panels[0].marks) == len(arms.panels[0].marks) == 1:
        arms = None  # two arms: the layer's gain is the arm's
    pairs = interactions_info(gains.arm_gains, metric)
    whole = tuple(panel for panel in pairs.panels if panel.product is not None and panel.corners[3].gain is not None)
    return GainPictures(layers=layers, arms=arms, interactions=replace(pairs, panels=whole) if whole else None)


def forest_of_two(rows: pd.DataFrame, metric: str) -> ForestInfo | None:
    """Each arm's gain in run B over run A."""
    info = _forest(rows, metric)
    return info and replace(info, caption=replace(info.caption, title=TWO_TITLE))


def _forest(table: pd.DataFrame, metric: str) -> ForestInfo | None:
    info = forest_info(table[table["gain"].notna()], [metric])
    return info if info.panels else None


def gain_rows(gains: Gains, metric: str) -> list[dict[str, Any]]:
    """Layers, then arms against base, on one metric: a row each, by the words above its column."""
    tables = (("term", "averaged", gains.effects), ("arm", "against base", gains.arm_gains))
    return [
        {"of": f"{term_label(row[name])}, {kind}", **_cells(row)}
        for name, kind, table in tables
        for row in records(table[table["metric"] == metric])
    ]


def rows_of_two(rows: pd.DataFrame, metric: str) -> list[dict[str, Any]]:
    """Each arm's typical values in both runs, and the gain."""
    return [
        {"of": row["arm"], "A": _value(row["a"], metric), "B": _value(row["b"], metric), **_cells(row)}
        for row in records(rows[rows["metric"] == metric])
    ]


def _cells(row: dict[str, Any]) -> dict[str, str]:
    head = verdict_head(row["verdict"])
    return {
        "gain": times(row["gain"]),
        "95 % interval": interval(row),
        "n": f"{counted(row['n_requests'], 'request')}, {counted(row['n_tasks'], 'task')}, "
        f"{counted(row['n_repeats'], 'repeat')}",
        "would show": smallest(row["smallest_gain"]),
        "verdict": head,
        "why": row["verdict"].removeprefix(head).lstrip(":;, ") or DASH,
    }


def _value(value: float | None, metric: str) -> str:
    if value is None or pd.isna(value):
        return DASH
    unit = _UNITS.get(metric)
    return seconds(value) if unit is None else f"{plain(value)} {unit}"
