"""Which arm takes less time than base, on the same requests? The first figure of a comparison.

Time relative to base = 1 / ratio_to_base, where `ratio_to_base` (labkit.analysis.arms.arm_table) is paired: the sum of
base's end-to-end seconds over the arm's, over the steps that both finished.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import DASH, seconds, times
from labkit.core.arms import BASE
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import MUTED, SURFACE, Mode, arm_color, arm_order

TITLE = "Which arm takes less time than base?"


@dataclass(frozen=True, kw_only=True)
class ArmBar:
    """One arm. `relative`: its time over base's, None without a common step.

    `n`: steps that finished in both; `seconds` are over these, or over all of the arm's when there is none.
    """

    arm: str
    seconds: float | None
    relative: float | None
    n: int
    failed: int
    too_few: bool

    @property
    def label(self) -> str:
        """What is written at the bar: the ratio in words, seconds, n."""
        if self.seconds is None and not self.failed:
            return f"{DASH} not measured"
        failed = f", {self.failed} failed" if self.failed else ""
        over = f", n = {self.n}" if self.n else " in all its steps" if self.seconds is not None else ""
        return f"{_ratio_words(self)}<br>{seconds(self.seconds)}{over}{failed}"


@dataclass(frozen=True, kw_only=True)
class ArmsOverviewInfo:
    """One bar per arm, in the lab's order."""

    caption: Caption
    bars: tuple[ArmBar, ...]


def arms_overview_info(table: pd.DataFrame, asked: Sequence[str] = ()) -> ArmsOverviewInfo:
    """From the arm table (one row per arm; columns of labkit.analysis.arms.ArmRow).

    `asked`: arms that are shown even when they have no row, since a refused arm is a result, too.
    """
    rows: dict[str, dict[Hashable, Any]] = {str(row["arm"]): row for row in table.to_dict("records")}
    bars = tuple(_bar(rows[arm]) if arm in rows else _none(arm) for arm in arm_order([*rows, *asked]))
    return ArmsOverviewInfo(caption=_caption(bars), bars=bars)


def arms_overview_figure(info: ArmsOverviewInfo, mode: Mode = "light") -> go.Figure:
    """Horizontal bars of time relative to base; base is the dotted line at 1."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=70 + 56 * len(info.bars), showlegend=False)
    figure.add_bar(
        orientation="h",
        y=[bar.arm for bar in info.bars],
        x=[bar.relative for bar in info.bars],
        marker={"color": [arm_color(bar.arm, mode) for bar in info.bars]},
        hovertext=[bar.label for bar in info.bars],
        hoverinfo="y+text",
    )
    for bar in info.bars:
        _write(figure, bar, mode)
    figure.add_vline(x=1, line={"dash": "dot", "color": MUTED[mode], "width": 1})
    widest = max([bar.relative or 0 for bar in info.bars] + [1])
    figure.update_xaxes(title="time relative to base (base = 1)", range=[0, widest * 1.9], dtick=_tick(widest))
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return figure


def _bar(row: dict[Hashable, Any]) -> ArmBar:
    ratio = _number(row["ratio_to_base"])
    return ArmBar(
        arm=str(row["arm"]),
        seconds=_number(row["e2e_paired_s"] if row["n_pairs"] else row["e2e_s"]),
        relative=1 / ratio if ratio else None,
        n=int(row["n_pairs"]),
        failed=int(row["n_failed"]),
        too_few=bool(row["too_few"]),
    )


def _none(arm: str) -> ArmBar:
    return ArmBar(arm=arm, seconds=None, relative=None, n=0, failed=0, too_few=True)


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _caption(bars: tuple[ArmBar, ...]) -> Caption:
    if not any(bar.seconds for bar in bars):
        return Caption(title=TITLE, empty="No step has finished yet, so there is nothing to compare.")
    return Caption(
        title=TITLE,
        note="Send to last byte, over the n steps that base finished, too.",
        alt="Time relative to base. " + "; ".join(f"{bar.arm}: {bar.label.replace('<br>', ', ')}" for bar in bars),
    )


def _ratio_words(bar: ArmBar) -> str:
    if bar.relative is None:
        return f"{DASH} (no step in common with base)"
    if bar.arm == BASE.label:
        return BASE.label
    return f"{times(1 / bar.relative)} as fast" + (", too few to tell" if bar.too_few else "")


def _write(figure: go.Figure, bar: ArmBar, mode: Mode) -> None:
    """The label right of the bar: an annotation, because a bar without a value would lose its text."""
    style = {
        "showarrow": False,
        "xanchor": "left",
        "align": "left",
        "xshift": 6,
        "font": {"size": 12},
        "bgcolor": SURFACE[mode],
    }
    figure.add_annotation(x=bar.relative or 0, y=bar.arm, text=bar.label, **style)


def _tick(widest: float) -> float:
    return next(step for step in (0.25, 0.5, 1, 2, 5, 10, 50, 100, 1000) if widest / step <= 6)
