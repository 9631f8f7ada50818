"""How many tokens does a round yield here, and what do others publish? Filled: measured; hollow: a claim, of another
model, text and drafter. The number does not depend on how fast a machine is, so it travels better than a speed-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, plain
from labkit.plots.drafters import look
from labkit.plots.frame import Caption, framed, sentence, wrapped
from labkit.plots.rows import counted
from labkit.plots.theme import FAINT, MUTED, Mode

TITLE = "How many tokens does a round yield, here and as published?"
METRIC = "acceptance_length"
_LABEL_CHARS, _ROW_PX = 28, 46


@dataclass(frozen=True, kw_only=True)
class LengthMark:
    """One row. `low`, `high`: 95 % interval of a measurement, the published range of a claim, or None."""

    row: str
    length: float
    low: float | None
    high: float | None
    text: str
    claimed: bool
    too_few: bool = False


@dataclass(frozen=True, kw_only=True)
class RoundLengthsInfo:
    """What was measured, then the claims, shortest first."""

    caption: Caption
    marks: tuple[LengthMark, ...]


def round_lengths_info(drafters: pd.DataFrame, claims: pd.DataFrame) -> RoundLengthsInfo:
    """From `drafter_table` (its rows on all steps) and the claims of labkit.store.claims."""
    marks = (*_measured(drafters), *_claimed(claims))
    return RoundLengthsInfo(caption=_caption(marks), marks=marks)


def round_lengths_figure(info: RoundLengthsInfo, mode: Mode = "light") -> go.Figure:
    """A row each; 1 is a pass without drafts."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=80 + _ROW_PX * len(info.marks), showlegend=False)
    for place, mark in enumerate(info.marks):
        figure.add_scatter(**_drawn(place, mark, mode))
    figure.add_vline(x=1, line={"dash": "dot", "color": MUTED[mode], "width": 1})
    names = ["<br>".join(wrapped(mark.row, _LABEL_CHARS)) for mark in info.marks]
    figure.update_xaxes(title="tokens a round (1 + accepted / rounds)", rangemode="tozero", dtick=1)
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.5, -0.5], showgrid=False, ticksuffix=" "
    )
    return figure


def _measured(drafters: pd.DataFrame) -> Iterator[LengthMark]:
    kept = drafters[(drafters["by"] == "all") & drafters["length"].notna()]
    for row in kept.to_dict("records"):
        low, high = (None if missing(row[name]) else float(row[name]) for name in ("length_low", "length_high"))
        between = "" if low is None or high is None else f" [{plain(low)}, {plain(high)}]"
        text = f"{row['method']}, measured: {plain(row['length'])}{between}, {counted(int(row['n']), 'step')}"
        yield LengthMark(
            row=f"{row['method']}, measured", length=float(row["length"]), low=low, high=high, text=text,
            claimed=False, too_few=bool(row["too_few"]),
        )  # fmt: skip


def _claimed(claims: pd.DataFrame) -> Iterator[LengthMark]:
    kept = claims[(claims["metric"] == METRIC) & claims["value"].notna()]
    for row in kept.sort_values(["value", "id"]).to_dict("records"):
        low, high = (None if missing(row[name]) else float(row[name]) for name in ("low", "high"))
        what = ",".join(str(row["load"] or row["model"] or row["hardware"]).split(",")[:2])
        yield LengthMark(
            row=f"{row['source']}, {what}", length=float(row["value"]), low=low, high=high,
            text=f"{row['statement']} {row['source']}, {row['date']}. {row['caution']}", claimed=True,
        )  # fmt: skip


def _drawn(place: int, mark: LengthMark, mode: Mode) -> dict[str, Any]:
    """A claimed range has a mark at each end: where within it, nobody said."""
    color, symbol = (MUTED[mode], "diamond-open") if mark.claimed else look(place, mode)
    ranged = mark.claimed and mark.low is not None and mark.high is not None
    x = [mark.low, mark.high] if ranged else [mark.length]
    drawn: dict[str, Any] = {
        "x": x, "y": [place] * len(x), "mode": "markers", "hovertext": mark.text, "hoverinfo": "text",
        "marker": {"symbol": symbol, "size": 11, "color": color, "opacity": FAINT if mark.too_few else 1.0},
    }  # fmt: skip
    if not mark.claimed and mark.low is not None and mark.high is not None:
        ends = {"array": [mark.high - mark.length], "arrayminus": [mark.length - mark.low]}
        drawn["error_x"] = {"type": "data", "symmetric": False, **ends, "color": color, "thickness": 2, "width": 6}
    return drawn


def _caption(marks: tuple[LengthMark, ...]) -> Caption:
    measured = [mark for mark in marks if not mark.claimed]
    if not measured:
        return Caption(title=TITLE, empty="No drafts were measured: labkit run speculation does that.")
    n_claims = len(marks) - len(measured)
    note = (
        f"Filled: measured by this run, with the 95 % interval. Hollow: {counted(n_claims, 'published claim')}, of "
        "other models, texts and drafters; a range has a mark at each end."
    )
    said = "; ".join(mark.text if not mark.claimed else f"{mark.row}, claimed: {plain(mark.length)}" for mark in marks)
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {said}.")
