"""When do drafts take more time than they give? The seconds of decoding that each drafter saved and spent, by kind."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import seconds
from labkit.core.records import KINDS
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, part_color

TITLE = "Do drafts give more time than they take?"
_EMPTY = "No step was measured both with drafts and without: labkit run speculation does that."


@dataclass(frozen=True, kw_only=True)
class TimeBar:
    """One drafter on one kind of step: seconds that accepted tokens saved, and that drafting and checking took."""

    method: str
    kind: str
    given_s: float
    taken_s: float
    n: int


@dataclass(frozen=True, kw_only=True)
class DraftTimeInfo:
    """A pair of bars per drafter and kind of step, in the order of drafters and of KINDS."""

    caption: Caption
    bars: tuple[TimeBar, ...]


def draft_time_info(rounds: pd.DataFrame) -> DraftTimeInfo:
    """`rounds`: rows of RoundRow; those by kind are drawn."""
    kept = rounds[rounds["by"] == "kind"]
    order: dict[str, int] = {kind: place for place, kind in enumerate(KINDS)}
    bars = [
        TimeBar(
            method=str(row["method"]), kind=str(row["group"]), given_s=float(row["given_s"]),
            taken_s=float(row["taken_s"]), n=int(row["n_pairs"]),
        )
        for row in kept.to_dict("records")
    ]  # fmt: skip
    methods = list(dict.fromkeys(bar.method for bar in bars))
    bars.sort(key=lambda bar: (methods.index(bar.method), order[bar.kind]))
    return DraftTimeInfo(caption=_caption(bars), bars=tuple(bars))


def draft_time_figure(info: DraftTimeInfo, mode: Mode = "light") -> go.Figure:
    """Two bars side by side; the layer gains where the first is the longer one."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300, barmode="group")
    x = [[bar.method for bar in info.bars], [bar.kind for bar in info.bars]]
    told = [f"{bar.method}, {bar.kind}, {counted(bar.n, 'pair')}" for bar in info.bars]
    for name, values, color in (
        ("given: passes saved", [bar.given_s for bar in info.bars], part_color("accepted", mode)),
        ("taken: drafting and checking", [bar.taken_s for bar in info.bars], part_color("computed", mode)),
    ):
        figure.add_bar(
            x=x, y=values, name=name, marker_color=color, hoverinfo="text",
            hovertext=[f"{words}: {name} {seconds(value)}" for words, value in zip(told, values, strict=True)],
        )  # fmt: skip
    figure.update_yaxes(title="seconds of decoding", rangemode="tozero")
    return figure


def _caption(bars: list[TimeBar]) -> Caption:
    if not bars:
        return Caption(title=TITLE, empty=_EMPTY)
    n = sum(bar.n for bar in bars)
    words = "; ".join(
        f"{bar.method} {bar.kind} gave {seconds(bar.given_s)}, took {seconds(bar.taken_s)}" for bar in bars
    )
    note = f"Summed over {counted(n, 'pair')} of steps with the same number of tokens."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {words}.")
