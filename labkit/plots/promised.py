"""How much of each prompt has the engine read or written before, as far as a recording alone can tell?

Stacked bars a turn: what repeats, what is new, and the reply. In tokens where the recording counted them, else in
characters. Nothing was measured yet: what a cache really served is on `tokens_per_turn`.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.tables import numbers
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, Part, part_color

_NAMES: dict[Part, str] = {"cached": "repeats", "computed": "new", "generated": "reply"}
PARTS: tuple[Part, ...] = tuple(_NAMES)


@dataclass(frozen=True, kw_only=True)
class PromisedInfo:
    """`unit`: tokens or characters. `parts`: amounts by turn, in the order in which they are stacked."""

    caption: Caption
    unit: str
    turns: tuple[int, ...]
    parts: dict[Part, tuple[float, ...]]


def promised_info(turns: pd.DataFrame, name: str) -> PromisedInfo:
    """`turns`: a row a step, with prompt, repeated and output amounts in tokens (may be null) and in characters."""
    counts = ("prompt_tokens", "repeated_tokens", "output_tokens")
    unit = "tokens" if len(turns) and turns[list(counts)].notna().all(axis=None) else "chars"
    prompt, repeated, output = (numbers(turns, f"{part}_{unit}") for part in ("prompt", "repeated", "output"))
    words = {"tokens": "tokens", "chars": "characters"}[unit]
    return PromisedInfo(
        caption=_caption(name, words, len(turns), float(repeated.sum()), float(prompt.sum())),
        unit=words,
        turns=tuple(int(turn) for turn in turns["turn"]),
        parts=dict(zip(PARTS, map(tuple, (repeated, prompt - repeated, output)), strict=True)),
    )


def promised_figure(info: PromisedInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars, one a turn."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280, barmode="stack", hovermode="x unified")
    for part, amounts in info.parts.items():
        color = part_color(part, mode)
        figure.add_bar(x=info.turns, y=amounts, name=_NAMES[part], marker_color=color, hovertemplate="%{y:,.0f}")
    figure.update_xaxes(title="turn", **turn_ticks(max(info.turns)))
    figure.update_yaxes(title=info.unit, rangemode="tozero", tickformat=",d")
    return figure


def _caption(name: str, unit: str, n: int, repeated: float, prompt: float) -> Caption:
    title = f"How much of each prompt of {name} repeats?"
    if not n or not prompt:
        return Caption(title=title, empty=f"{name} has no step.")
    said = f"{repeated / prompt:.0%} of {prompt:,.0f} prompt {unit} repeat"
    note = f"{said}; {counted(n, 'step')}, from the recording alone: nothing was measured."
    return Caption(title=title, note=note, alt=f"{title} {said}, {counted(n, 'step')}.")
