"""Which tokens of each step were cached, computed, generated or guessed? One row a step, over the whole conversation.

A row is the step's prompt, message by message, and then its reply: what is cached is a prefix, so the eye sees where
each step leaves what is known, and where a cache that is smaller than the conversation loses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import SURFACE, TEXT, Mode, part_color

StripPart = Literal["cached", "computed", "unknown", "generated", "accepted"]
PARTS: tuple[StripPart, ...] = ("cached", "computed", "unknown", "generated", "accepted")
_NAMES: dict[StripPart, str] = {
    "cached": "cached",
    "computed": "computed",
    "unknown": "not measured which",
    "generated": "generated",
    "accepted": "from drafts",
}
"""Short, so that a legend under a narrow figure has few lines."""
_HOVER: dict[StripPart, str] = {"accepted": "accepted from drafts", "unknown": "cached or computed"}
_ROW_PX, _FOOT_PX = 20, 96
"""A row; and what lies under the rows: tick labels, and a legend of up to two lines."""
TITLE = "Which tokens did each step find, compute and say?"


@dataclass(frozen=True)
class Piece:
    """Tokens of one part, side by side in one message; `words`: which message."""

    part: StripPart
    tokens: int
    words: str


@dataclass(frozen=True, kw_only=True)
class StripRow:
    """One step. `marked`: the one that is looked at. `label`: what stands beside its turn."""

    turn: int
    label: str = ""
    marked: bool = False
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TokenStripInfo:
    """The rows, first step on top."""

    caption: Caption
    rows: tuple[StripRow, ...]


def token_strip_info(rows: Sequence[StripRow], about: str = "") -> TokenStripInfo:
    """Rows as they come. `about`: whose steps they are, and what of them is left out."""
    known = [row for row in rows if row.pieces]
    if not known:
        return TokenStripInfo(caption=Caption(title=TITLE, empty="No step has reported its tokens."), rows=())
    sums = {part: sum(piece.tokens for row in known for piece in row.pieces if piece.part == part) for part in PARTS}
    said = ", ".join(f"{tokens:,} {_HOVER.get(part, part)}" for part, tokens in sums.items() if tokens)
    note = f"Tokens of prompt and reply; {about + '; ' if about else ''}n = {counted(len(known), 'step')}."
    alt = f"{TITLE} {about + ': ' if about else ''}{said} tokens in {counted(len(known), 'step')}."
    return TokenStripInfo(caption=Caption(title=TITLE, note=note, alt=alt), rows=tuple(rows))


def token_strip_figure(info: TokenStripInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars that lie; a thin gap between messages."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    rows_px = max(3, len(info.rows)) * _ROW_PX
    figure = framed(info.caption, mode, height=rows_px + _FOOT_PX, barmode="overlay", bargap=0.25)
    figure.update_layout(legend={"y": -30 / rows_px}, margin={"b": _FOOT_PX}, margin_autoexpand=True)
    for part in PARTS:
        _add_part(figure, info.rows, part, mode)
    figure.update_xaxes(rangemode="tozero", tickformat=",d")
    names = [_name(row) for row in info.rows]
    figure.update_yaxes(
        title="turn", autorange="reversed", showgrid=False, tickmode="array", tickvals=list(range(len(names))),
        ticktext=names,
    )  # fmt: skip
    return figure


def _add_part(figure: go.Figure, rows: Sequence[StripRow], part: StripPart, mode: Mode) -> None:
    """All tokens of one part, in all rows; none where there are none."""
    bars = [(n, start, piece) for n, row in enumerate(rows) for start, piece in _placed(row) if piece.part == part]
    if not bars:
        return
    words = _HOVER.get(part, part)
    figure.add_bar(
        y=[n for n, _, _ in bars],
        base=[start for _, start, _ in bars],
        x=[piece.tokens for _, _, piece in bars],
        orientation="h",
        name=_NAMES[part],
        marker={"color": part_color(part, mode), "line": {"color": SURFACE[mode], "width": 0.6}},
        customdata=[[rows[n].turn, piece.words] for n, _, piece in bars],
        hovertemplate=f"turn %{{customdata[0]}}: %{{x:,}} {words}<br>%{{customdata[1]}}<extra></extra>",
        hoverlabel={"bgcolor": SURFACE[mode], "font": {"color": TEXT[mode]}},
    )


def _placed(row: StripRow) -> list[tuple[int, Piece]]:
    """Each piece with the tokens that lie before it."""
    starts = [0]
    for piece in row.pieces:
        starts.append(starts[-1] + piece.tokens)
    return list(zip(starts, row.pieces, strict=False))


def _name(row: StripRow) -> str:
    words = f"{row.turn} {row.label}".strip()
    return f"<b>▸ {words}</b>" if row.marked else words
