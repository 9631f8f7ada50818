"""The effects as a terminal shows them: one line per layer or arm, with its interval and what can be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table

from labkit.analysis.effects import arm_gains, effects
from labkit.analysis.format import DASH, missing, times

_METRICS = {
    "e2e_s": "end to end",
    "ttft_s": "first token",
    "itl_p99_s": "ITL p99",
    "tokens_per_s": "tokens/s",
    "prompt_computed": "prompt computed",
    "joules": "energy",
}
_HEADLINE = ("e2e_s", "ttft_s")
_CAPTION = (
    "gain: without / with the layer, so above 1 is better; a:b: how much more than the product of both.\n"
    "95 %: over tasks. p: after Holm over the rows shown."
)
_ARMS_CAPTION = "gain: base / arm on the same requests, above 1 is better; 95 % over tasks; p after Holm."


def effects_view(steps: pd.DataFrame, chunks: pd.DataFrame) -> Table | None:
    """Layers and their interactions, end to end and to the first token; None when no arm has a step."""
    return _view(effects(steps, chunks), "term", _CAPTION)


def gains_view(steps: pd.DataFrame, chunks: pd.DataFrame) -> Table | None:
    """Each arm against base; None when there is nothing to compare."""
    return _view(arm_gains(steps, chunks), "arm", _ARMS_CAPTION)


def _view(rows: pd.DataFrame, name: str, caption: str) -> Table | None:
    shown = rows[rows["metric"].isin(_HEADLINE)]
    if shown.empty:
        return None
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, caption=caption, caption_justify="left")
    table.add_column(name)
    table.add_column("metric", no_wrap=True)
    for title in ("gain", "95 %", "p", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for row in shown.to_dict("records"):
        table.add_row(*_cells(row, name))
    return table


def _cells(row: Mapping[Any, Any], name: str) -> tuple[str, ...]:
    return (
        str(row[name]).replace("_", " "),
        _METRICS[row["metric"]],
        times(row["gain"]),
        DASH if missing(row["low"]) else f"{row['low']:.2f}-{row['high']:.2f}",
        _p(row["p_holm"]),
        f"{row['n_requests']}/{row['n_tasks']}",
        str(row["verdict"]),
    )


def _p(value: float | None) -> str:
    if value is None or missing(value):
        return DASH
    return "<0.001" if value < 0.001 else f"{value:.3f}"
