"""Where did an arm's prompt tokens come from, turn by turn, and how much could a perfect cache have served?

The bars are the prompt: cached (found in the prefix cache) and computed (the rest), by whichever process. Two lines lie
over them: the ceiling, which is what an infinite cache of whole blocks could have served, and in split arms the tokens
that were transferred from prefill to decode. Transferred tokens were computed or cached before: not a third part.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.tables import numbers
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import counted, finished
from labkit.plots.theme import TEXT, Mode, Part, part_color

_NAMES: dict[Part, str] = {
    "cached": "cached",
    "computed": "computed",
    "unknown": "prompt (split not measured)",
}
PARTS: tuple[Part, ...] = ("cached", "computed", "unknown")


@dataclass(frozen=True, kw_only=True)
class TokensPerTurnInfo:
    """Per turn, mean prompt tokens by source. `ceiling` and `transferred` are None at turns where not measured."""

    caption: Caption
    arm: str
    turns: tuple[int, ...]
    parts: dict[Part, tuple[float, ...]]
    ceiling: tuple[float | None, ...] = ()
    transferred: tuple[float | None, ...] = ()


def tokens_per_turn_info(steps: pd.DataFrame, arm: str) -> TokensPerTurnInfo:
    """Mean tokens per turn of one arm, over repeats and tasks: means of parts add up to the mean of the whole."""
    kept = finished(steps)
    kept = kept[(kept["arm"] == arm) & kept["prompt_tokens"].notna()]
    if not len(kept):
        return TokensPerTurnInfo(caption=_caption(arm, kept), arm=arm, turns=(), parts={})
    means = _split(kept).groupby("turn").mean()
    return TokensPerTurnInfo(
        caption=_caption(arm, kept),
        arm=arm,
        turns=tuple(int(turn) for turn in means.index),
        parts={part: tuple(map(float, means[part])) for part in PARTS if means[part].any()},
        ceiling=_known(means["ceiling"]),
        transferred=_known(means["transferred"]),
    )


def tokens_per_turn_figure(info: TokensPerTurnInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars and the ceiling line."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300, barmode="stack", hovermode="x unified")
    for part, tokens in info.parts.items():
        color = part_color(part, mode)
        figure.add_bar(x=info.turns, y=tokens, name=_NAMES[part], marker_color=color, hovertemplate="%{y:,.0f}")
    _add_line(figure, "cache ceiling", info.turns, info.ceiling, TEXT[mode], "line-ew-open")
    _add_line(figure, "transferred to decode", info.turns, info.transferred, part_color("moved", mode), "diamond")
    figure.update_xaxes(title="turn", **turn_ticks(max(info.turns)))
    figure.update_yaxes(title="prompt tokens", rangemode="tozero", tickformat=",d")
    return figure


def _split(steps: pd.DataFrame) -> pd.DataFrame:
    """Columns turn, the three parts, the two lines. A prompt whose cached tokens were not reported is `unknown`."""
    prompt, cached = (pd.Series(numbers(steps, name), steps.index) for name in ("prompt_tokens", "cached_tokens"))
    known = cached.notna()
    return pd.DataFrame(
        {
            "turn": steps["turn"],
            "cached": cached.fillna(0),
            "computed": (prompt - cached).fillna(0),
            "unknown": prompt.where(~known, 0),
            "ceiling": numbers(steps, "ceiling_tokens"),
            "transferred": numbers(steps, "transferred_tokens"),
        }
    )


def _known(means: pd.Series[float]) -> tuple[float | None, ...]:
    return tuple(None if pd.isna(value) else float(value) for value in means)


def _add_line(
    figure: go.Figure, name: str, turns: tuple[int, ...], tokens: tuple[float | None, ...], color: str, symbol: str
) -> None:
    """A dotted line over the bars; none when it was never measured."""
    if all(value is None for value in tokens):
        return
    figure.add_scatter(
        x=turns,
        y=tokens,
        name=name,
        mode="lines+markers",
        connectgaps=False,
        line={"color": color, "dash": "dot", "width": 2},
        marker={"symbol": symbol, "size": 10, "color": color},
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
