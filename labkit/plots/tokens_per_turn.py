"""Where did the prompt's KV blocks come from, turn by turn, and how much could a perfect cache have served?

The bars are parts of the prompt: cached (found in the prefix cache), transferred (KV that came from the prefill
process) and computed (the rest). The line is the ceiling: what an infinite cache of whole blocks could have served.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import counted, finished
from labkit.plots.theme import TEXT, Mode, Part, part_color

_NAMES: dict[Part, str] = {
    "cached": "cached",
    "transferred": "transferred",
    "computed": "computed",
    "unknown": "prompt (split not measured)",
}
PARTS: tuple[Part, ...] = ("cached", "transferred", "computed", "unknown")


@dataclass(frozen=True, kw_only=True)
class TokensPerTurnInfo:
    """Per turn, mean prompt tokens by source. `ceiling` is None at turns where it was not computed."""

    caption: Caption
    arm: str
    turns: tuple[int, ...]
    parts: dict[Part, tuple[float, ...]]
    ceiling: tuple[float | None, ...]


def tokens_per_turn_info(steps: pd.DataFrame, arm: str) -> TokensPerTurnInfo:
    """Mean tokens per turn of one arm, over repeats and tasks: means of parts add up to the mean of the whole."""
    kept = finished(steps)
    kept = kept[(kept["arm"] == arm) & kept["prompt_tokens"].notna()] if len(kept) else kept
    if not len(kept):
        return TokensPerTurnInfo(caption=_caption(arm, kept), arm=arm, turns=(), parts={}, ceiling=())
    means = _split(kept).groupby("turn").mean()
    return TokensPerTurnInfo(
        caption=_caption(arm, kept),
        arm=arm,
        turns=tuple(int(turn) for turn in means.index),
        parts={part: tuple(map(float, means[part])) for part in PARTS if means[part].any()},
        ceiling=tuple(None if pd.isna(value) else float(value) for value in means["ceiling"]),
    )


def tokens_per_turn_figure(info: TokensPerTurnInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars and the ceiling line."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300, barmode="stack", hovermode="x unified")
    for part, tokens in info.parts.items():
        color = part_color(part, mode)
        figure.add_bar(x=info.turns, y=tokens, name=_NAMES[part], marker_color=color, hovertemplate="%{y:,.0f}")
    if any(value is not None for value in info.ceiling):
        _add_ceiling(figure, info, mode)
    figure.update_xaxes(title="turn", **turn_ticks(max(info.turns)))
    figure.update_yaxes(title="prompt tokens", rangemode="tozero", tickformat=",d")
    return figure


def _split(steps: pd.DataFrame) -> pd.DataFrame:
    """Columns turn, the four parts, ceiling. A prompt whose cached tokens were not reported goes to `unknown`."""
    numbers = steps[["prompt_tokens", "cached_tokens", "transferred_tokens", "ceiling_tokens"]].astype("float64")
    known = numbers["cached_tokens"].notna()
    cached, moved = numbers["cached_tokens"].fillna(0), numbers["transferred_tokens"].fillna(0)
    parts = {
        "cached": cached,
        "transferred": moved.where(known, 0),
        "computed": (numbers["prompt_tokens"] - cached - moved).clip(lower=0).where(known, 0),
        "unknown": numbers["prompt_tokens"].where(~known, 0),
    }
    return pd.DataFrame({"turn": steps["turn"], **parts, "ceiling": numbers["ceiling_tokens"]})


def _add_ceiling(figure: go.Figure, info: TokensPerTurnInfo, mode: Mode) -> None:
    figure.add_scatter(
        x=info.turns,
        y=info.ceiling,
        name="cache ceiling",
        mode="lines+markers",
        connectgaps=False,
        line={"color": TEXT[mode], "dash": "dot", "width": 2},
        marker={"symbol": "line-ew-open", "size": 14, "color": TEXT[mode]},
        hovertemplate="%{y:,.0f}",
    )


def _caption(arm: str, steps: pd.DataFrame) -> Caption:
    title = f"Where did the prompt's tokens come from under {arm}?"
    if not len(steps):
        return Caption(title=title, empty=f"No step of {arm} has reported its prompt tokens yet.")
    prompt, cached = steps["prompt_tokens"].sum(), steps["cached_tokens"].sum(min_count=1)
    share = "cached tokens not measured" if pd.isna(cached) else f"{cached / prompt:.0%} of prompt tokens cached"
    count = counted(len(steps), "step")
    return Caption(
        title=title, note=f"{share}; {count}, mean per turn.", alt=f"{title} {share}, {prompt:,.0f} tokens, {count}."
    )
