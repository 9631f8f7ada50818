"""Why was a prompt's token computed, though it was seen before? Every token of the prompt, by the name of its fate.

One bar per arm, or one per turn of an arm. From the bottom: cached, then what stood in the way of a hit from the
nearest cause to the farthest, then what nothing before had. The parts are those of analysis/cache_gap.py and add up to
the prompt. A loss below the ceiling of unknown cause (replicas that cannot be told apart) has a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.cache_gap import step_gap
from labkit.analysis.format import percent
from labkit.plots.frame import Caption, framed, sentence, unbroken
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import arms_of, common, counted
from labkit.plots.theme import Mode, Part, part_color

_NAMES: dict[str, tuple[str, Part]] = {
    "cached": ("cached", "cached"),
    "eviction": ("evicted", "eviction"),
    "routing": ("in another process", "routing"),
    "unknown": ("evicted or elsewhere", "unknown"),
    "off": ("caching is off", "off"),
    "rounding": ("rounded off", "rounding"),
    "template_drift": ("template drift", "template_drift"),
    "new": ("new", "new"),
}


@dataclass(frozen=True, kw_only=True)
class CacheGapInfo:
    """`bars`: arms, or turns of one arm; `parts`: tokens of each bar by name, those that are 0 everywhere left out."""

    caption: Caption
    bars: tuple[str | int, ...]
    parts: dict[str, tuple[float, ...]]


def cache_gap_info(steps: pd.DataFrame, arm: str | None = None) -> CacheGapInfo:
    """Prompt tokens by fate: of each arm, summed over the steps that all finished, or a mean for each turn of `arm`."""
    parts = step_gap(common(steps) if arm is None else steps[steps["arm"] == arm])
    if not len(parts):
        return CacheGapInfo(caption=_caption(arm, parts), bars=(), parts={})
    parts = parts.assign(unknown=parts["lost"].where(parts["routing"].isna(), 0.0)).fillna(
        {"routing": 0, "eviction": 0}
    )
    names = list(_NAMES)
    table = parts.groupby("turn")[names].mean() if arm else parts.groupby("arm")[names].sum().loc[arms_of(parts)]
    return CacheGapInfo(
        caption=_caption(arm, parts),
        bars=tuple(table.index),
        parts={name: tuple(map(float, table[name])) for name in names if table[name].any()},
    )


def cache_gap_figure(info: CacheGapInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars; the legend reads from the bottom of a bar to its top."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=320, barmode="stack", hovermode="x unified")
    for name, tokens in info.parts.items():
        label, color = _NAMES[name]
        figure.add_bar(
            x=info.bars, y=tokens, name=label, marker_color=part_color(color, mode), hovertemplate="%{y:,.0f}"
        )
    turns = [bar for bar in info.bars if isinstance(bar, int)]
    figure.update_xaxes(title="turn" if turns else "arm", **(turn_ticks(max(turns)) if turns else {}))
    figure.update_yaxes(title="prompt tokens", rangemode="tozero", tickformat=",d")
    return figure


def _caption(arm: str | None, parts: pd.DataFrame) -> Caption:
    title = "Why was a prompt's token computed again" + (f" under {arm}?" if arm else "?")
    if not len(parts):
        what = f"No step of {arm}" if arm else "No step"
        return Caption(title=title, empty=f"{what} has both its cached tokens and its ceiling measured yet.")
    by_arm = {one: parts[parts["arm"] == one] for one in arms_of(parts)}
    count = counted(len(parts) // len(by_arm), "step")
    words = "; ".join(f"{one}: {_shares(of_arm)}" for one, of_arm in by_arm.items())
    note = f"{words}; {count}, mean per turn." if arm else f"{count} of each arm, summed."
    return Caption(title=title, note=note + _beyond(parts), alt=f"{title} {words}; {count}.")


def _shares(parts: pd.DataFrame) -> str:
    """`62 % cached, 3.1 % rounded off`: of the prompt tokens, what is not 0, in the order of the bars."""
    prompt = float(parts["prompt"].sum())
    shares = {name: float(parts[name].sum()) / prompt for name in _NAMES}
    return ", ".join(f"{unbroken(percent(share))} {_NAMES[name][0]}" for name, share in shares.items() if share)


def _beyond(parts: pd.DataFrame) -> str:
    tokens = parts["beyond"].sum()
    return f" {tokens:,.0f} tokens were cached though nothing known had left them there." if tokens else ""
