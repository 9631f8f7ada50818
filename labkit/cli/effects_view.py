"""The effects as a terminal shows them: one line per layer or arm, with its interval and what can be said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.effect_words import NOT_MEASURED
from labkit.analysis.effects import arm_gains, effects
from labkit.analysis.energy import group_joules
from labkit.analysis.format import DASH, missing, times
from labkit.cli.arms_view import parts_of, print_arms, titled
from labkit.core.records import Cache
from labkit.store.runs import Run

_METRICS = {"e2e_s": "end to end", "ttft_s": "first token", "joules": "joules"}
"""The headline set, and joules where they were read; the others are in the report."""
_SHORT = {"prefix_caching": "prefix", "pd_split": "pd", "speculation": "spec"}
_LAYERS = "gain: time without the layer / with it, 2x: twice as fast. prefix:pd: beyond the product of both gains."
_ARMS = (
    "gain: time of base / of the arm, 2x: twice as fast; a mean over requests, each counting alike, where `vs base` of "
    "the arms is a ratio of sums."
)
_COLUMNS = "95 %: over tasks. p: after Holm over these rows. n: requests/tasks. shows from: smaller gains are missed."
_TITLES = {
    "term": "What does each layer gain, averaged over the settings of the others?",
    "arm": "What does each arm gain over base?",
}
_ABSURD = 100.0
"""From here on, the smallest gain that could be shown says only that there is too little."""


def print_run(run: Run, console: Console) -> None:
    """The arms side by side, then what each layer gains, then each arm against base; each where there is something."""
    print_arms(run, console)
    print_effects(run, console)


def print_effects(run: Run, console: Console) -> None:
    """What each layer gains, and each arm against base."""
    samples = run.samples()
    for part in titled(parts_of(run), console):
        measured = (part.steps, part.chunks, group_joules(samples, part.steps), part.cache)
        for view in (effects_view(*measured), gains_view(*measured)):
            if view is not None:
                console.print("", view)


def effects_view(
    steps: pd.DataFrame, chunks: pd.DataFrame, joules: pd.DataFrame | None = None, cache: Cache = "cold"
) -> Table | None:
    """Layers and their interactions, end to end and to the first token; None when no arm has a step.

    `joules`: as labkit.analysis.energy has them; their rows are shown where some were read.
    """
    return _view(effects(steps, chunks, joules, cache=cache), "term", _LAYERS)


def gains_view(
    steps: pd.DataFrame, chunks: pd.DataFrame, joules: pd.DataFrame | None = None, cache: Cache = "cold"
) -> Table | None:
    """Each arm against base; None when there is nothing to compare. Else as `effects_view`."""
    return _view(arm_gains(steps, chunks, joules, cache=cache), "arm", _ARMS)


def _view(rows: pd.DataFrame, name: str, about: str) -> Table | None:
    told = rows["metric"].isin(_METRICS) & ((rows["metric"] != "joules") | rows["gain"].notna())
    shown: list[Mapping[Any, Any]] = rows[told].to_dict("records")  # type: ignore[assignment]
    if not shown:
        return None
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=0, title=_TITLES[name])
    table.title_justify, table.title_style = "left", "bold"
    table.add_column({"term": "layer"}.get(name, name), no_wrap=True)
    table.add_column("time", no_wrap=True)
    for title in ("gain", "95 %", "p", "n", "shows\nfrom"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for row in (row for row in shown if _told(row) != NOT_MEASURED):
        table.add_row(*_cells(row, name))
    table.caption = Text("\n".join((about, _COLUMNS, *_reasons(shown))))  # Text: no `:pd:` is an emoji
    table.caption_justify = "left"
    return table


def _cells(row: Mapping[Any, Any], name: str) -> tuple[str, ...]:
    return (
        ":".join(_SHORT.get(part, part) for part in str(row[name]).split(":")),
        _METRICS[row["metric"]],
        times(row["gain"]),
        DASH if missing(row["low"]) else f"{_end(row['low'])}-{_end(row['high'])}",
        _p(row["p_holm"]),
        f"{row['n_requests']}/{row['n_tasks']}",
        _smallest(row["smallest_gain"]),
        _told(row),
    )


def _told(row: Mapping[Any, Any]) -> str:
    """The verdict's own words; what makes it so, where it is the same for many rows, stands below the table."""
    return str(row["verdict"]).split(";")[0].split(":")[0]


def _reasons(rows: list[Mapping[Any, Any]]) -> Iterator[str]:
    """Why there are too few, or why something was not measured: each reason once."""
    reasons = (str(row["verdict"]).split(";")[0] for row in rows)
    yield from dict.fromkeys(f"{reason}." for reason in reasons if ":" in reason and not reason.startswith("same"))


def _end(value: float) -> str:
    """One end of an interval; a width beyond all reason is not spelled out."""
    return "<0.01" if value < 1 / _ABSURD else f">{_ABSURD:.0f}" if value > _ABSURD else f"{value:.2f}"


def _smallest(value: float | None) -> str:
    return f">{_ABSURD:.0f}x" if value is not None and not missing(value) and value > _ABSURD else times(value)


def _p(value: float | None) -> str:
    if value is None or missing(value):
        return DASH
    return "<0.001" if value < 0.001 else f"{value:.3f}"
