"""Drafters side by side: how much of what each proposes is accepted, by kind of step and turn, and what it gains."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.counter_events import counters
from labkit.analysis.draft_positions import position_table
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.analysis.format import DASH, count, missing, percent, plain, times
from labkit.experiments.report.blocks import Block, Grid, Heading, beside
from labkit.experiments.report.english import interval, records
from labkit.experiments.report.material import Material
from labkit.plots.drafters import By, drafters_figure, drafters_info

_BY: tuple[By, ...] = ("kind", "turn")
_ACCEPTED = ("steps", "drafter", "n", "drafted", "accepted", "rate", "95 % interval", "per round")
_GAINS = ("steps", "drafter", "pairs / tasks", "same text", "gain", "95 % interval", "decode alone", "verdict")
_POSITIONS = ("drafter", "position", "drafts", "accepted", "rate")
_NOTE = (
    "Weighted by tokens; requests of pinned length are left out. Per round: tokens per verification round with a draft."
)
_GAIN_NOTE = (
    "Gain: end-to-end time without / with the drafter, on the same requests; above 1 is faster. Decode alone: first to "
    "last token. Same text: pairs in which the drafter left the engine's words as they were."
)


def drafters(material: Material) -> tuple[Block, ...]:
    """Three tables; nothing in a run that did not vary the drafter."""
    if not any("method=" in condition for condition in material.conditions):
        return ()
    accepted, gains = drafter_table(material.measured), gain_table(material.measured)
    positions = position_table(counters(material.events))
    grids = (
        _grid(_ACCEPTED, accepted, _accepted, "What is accepted", _NOTE, (0, 1)),
        _grid(_GAINS, gains, _gain, "What it gains", _GAIN_NOTE, (0, 1, 7)),
        _grid(_POSITIONS, positions, _position, "Accepted by position in the draft, of all drafts", "", (0,)),
    )
    figures = [block for by in _BY for block in _figures(accepted, gains, by)]
    return (Heading("Drafters"), *figures, *(grid for grid in grids if grid)) if len(accepted) else ()


def _figures(accepted: pd.DataFrame, gains: pd.DataFrame, by: By) -> tuple[Block, ...]:
    """What is accepted beside what it gains, by kind of step or by turn."""
    return beside([drafters_info(accepted, "rate", by), drafters_info(gains, "gain", by)], drafters_figure)


def _grid(head: Any, rows: pd.DataFrame, row: Any, caption: str, note: str, words: tuple[int, ...]) -> Grid | None:
    return Grid(head, tuple(map(row, records(rows))), caption, note, words) if len(rows) else None


def _group(row: dict[str, Any]) -> str:
    return f"turns {row['group']}" if row["by"] == "turn" else str(row["group"])


def _accepted(row: dict[str, Any]) -> tuple[str, ...]:
    doubt = "?" if row["too_few"] else ""
    span = DASH if missing(row["rate_low"]) else f"{percent(row['rate_low'])} to {percent(row['rate_high'])}"
    counts = (count(row[name]) for name in ("n", "drafted", "accepted"))
    return (_group(row), row["method"], *counts, f"{percent(row['rate'])}{doubt}", span, plain(row["length"]))


def _gain(row: dict[str, Any]) -> tuple[str, ...]:
    n, same = f"{row['n_pairs']} / {row['n_tasks']}", f"{row['n_same']} of {row['n_pairs']}"
    numbers = (times(row["gain"]), interval(row), times(row["decode_gain"]))
    return (_group(row), row["method"], n, same, *numbers, row["verdict"])


def _position(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["method"], str(row["position"]), count(row["drafts"]), count(row["accepted"]), percent(row["rate"]))
