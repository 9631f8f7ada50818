"""The arm table as a terminal shows it; several commands print it.

Two shapes: where it fits, the numbers of a cell stand side by side (`212/600 ms`), else above one another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.format import DASH, count, missing, percent, plain, seconds, seconds_alike, times

Row = dict[str, Any]


class _Shown(NamedTuple):
    """A cell's numbers, the unit that they share, and what joins them on one line."""

    parts: tuple[str, ...]
    unit: str = ""
    joint: str = "/"


class _Column(NamedTuple):
    """`title` over `parts`, one name for each number of a cell. `titles` are the lines of a narrow title."""

    titles: tuple[str, ...]
    parts: tuple[str, ...]
    show: Callable[[Row], _Shown]


def arm_table_view(arms: pd.DataFrame, width: int | None = None) -> Table:
    """`arms` as `labkit.analysis.arms.arm_table` returns it; "not measured" is a dash.

    `width`: columns of the terminal; default: those of this one.
    """
    wide = _table(arms, wide=True)
    room = width or Console().width
    return wide if Console(width=1000).measure(wide).maximum <= room else _table(arms, wide=False)


def _table(arms: pd.DataFrame, wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    columns = _columns(moved=_moved(arms), uneven=_uneven(arms))
    for position, column in enumerate(columns):
        left: Any = "left" if position == 0 else "right"
        last = position == len(columns) - 1  # may wrap where all else fails: `3 failed` is not to be cut
        table.add_column(_header(column, wide), justify=left, no_wrap=wide or not last)
    rows: list[Any] = arms.to_dict("records")
    for row in rows:
        cells = [Text(_cell(column.show(row), wide)) for column in columns]
        cells[0].stylize("bold", 0, len(row["arm"]))
        table.add_row(*cells, end_section=not wide)
    if len(arms):
        table.caption, table.caption_justify = _caption(arms), "left"
    return table


def _header(column: _Column, wide: bool) -> str:
    titles = (" ".join(column.titles),) if wide else column.titles
    parts = ("/".join(column.parts),) if wide else column.parts
    return "\n".join(filter(None, (*titles, *parts)))


def _cell(shown: _Shown, wide: bool) -> str:
    if all(part == DASH for part in shown.parts):
        return DASH
    if wide:
        return f"{shown.joint.join(filter(None, shown.parts))} {shown.unit}".rstrip()
    return "\n".join(f"{part} {shown.unit}".rstrip() if part != DASH else DASH for part in shown.parts)


def _caption(arms: pd.DataFrame) -> str:
    lines = ["vs base: base time / arm time over steps finished in both; 2x: twice as fast."]
    if _uneven(arms):
        lines.append("e2e: seconds of the arm / of base over the n steps that both finished.")
    lines.append("comp.: computed. ceil.: ceiling, the most that an infinite cache could serve.")
    if _moved(arms):
        lines.append("moved: tokens whose KV was sent from prefill to decode.")
    if arms["acceptance_rate"].notna().any():
        lines.append("ITL: gap between chunks, which carry several tokens under speculation; TPOT: time per token.")
    if (arms["too_few"] & arms["ratio_to_base"].notna()).any():
        lines.append("?: too few pairs to tell.")
    if arms["switched_by"].str.contains("salt").any():
        lines.append("salt: prefix caching is off by a fresh cache salt, not by the server's flag.")
    return "\n".join(lines)


def _moved(arms: pd.DataFrame) -> bool:
    return bool(arms["prompt_transferred"].notna().any())


def _uneven(arms: pd.DataFrame) -> bool:
    """Whether arms finished different steps, so that their sums are not sums over the pairs of the ratio."""
    compared = arms[arms["ratio_to_base"].notna()]
    finished = compared["n_steps"] - compared["n_failed"]
    return bool(len(set(finished) | set(compared["n_pairs"])) > 1)


def _columns(moved: bool, uneven: bool) -> tuple[_Column, ...]:
    """The columns; tokens moved from prefill to decode only where some were; base's seconds only where they differ."""
    tokens = ("prompt_computed", "prompt_cached", "prompt_transferred")[: 3 if moved else 2]
    return (
        _Column(("arm",), ("switched by",), lambda r: _Shown((r["arm"], r["switched_by"]), joint=" · ")),
        _Column(("e2e",), ("arm", "base") if uneven else ("sum",), _paired_e2e if uneven else _e2e),
        _Column(("TTFT",), ("p50", "p95"), lambda r: _Shown(*seconds_alike(r["ttft_p50_s"], r["ttft_p95_s"]))),
        _Column(("TPOT",), ("p50",), lambda r: _Shown((seconds(r["tpot_p50_s"]),))),
        _Column(("ITL",), ("p50", "p99"), lambda r: _Shown(*seconds_alike(r["itl_p50_s"], r["itl_p99_s"]))),
        _Column(
            ("prompt", "tokens"),
            ("comp.", "cached", "moved")[: len(tokens)],
            lambda r: _Shown(tuple(count(r[name]) for name in tokens)),
        ),
        _Column(("hits",), ("rate", "ceil."), lambda r: _Shown((percent(r["hit_rate"]), percent(r["hit_ceiling"])))),
        _Column(("accept.",), ("rate", "length"), _acceptance),
        _Column(("vs base",), ("pairs",), _ratio),
    )


def _e2e(row: Row) -> _Shown:
    return _Shown((seconds(row["e2e_s"]),))


def _paired_e2e(row: Row) -> _Shown:
    return _Shown(*seconds_alike(row["e2e_paired_s"], row["e2e_base_s"]))


def _acceptance(row: Row) -> _Shown:
    return _Shown((percent(row["acceptance_rate"]), plain(row["acceptance_length"])))


def _ratio(row: Row) -> _Shown:
    """The ratio with its pairs; without one, how many steps there were. Failures are never left out."""
    failed = f"{count(row['n_failed'])} failed" if row["n_failed"] else ""
    if missing(row["ratio_to_base"]):
        return _Shown(tuple(filter(None, (DASH, f"n {row['n_steps']}", failed))), joint=" ")
    doubt = "?" if row["too_few"] else ""
    shown = (times(row["ratio_to_base"]) + doubt, f"n {row['n_pairs']}", failed)
    return _Shown(tuple(filter(None, shown)), joint=" ")
