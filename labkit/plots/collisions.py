"""How long does a prompt hold up the stream beside it? New tokens of the prompt against the stream's longest gap.

A dot is one prompt and one stream. The line is what should be seen where both are computed in one pass: the usual gap,
and the prompt's tokens at the rate of an agent alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import plain, seconds
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, arm_color, arm_dash, arm_marker, arm_order

TITLE = "How long does a prompt hold up the stream beside it?"


@dataclass(frozen=True, kw_only=True)
class ArmCollisions:
    """`gaps_s[i]`: longest gap of a stream beside a prompt of `tokens[i]` new tokens. `per_s`: tokens a second, or None
    where the line is not drawn."""

    arm: str
    tokens: tuple[int, ...]
    gaps_s: tuple[float, ...]
    usual_s: float
    per_s: float | None = None

    def promised(self, tokens: float) -> float | None:
        """The gap (s) beside so many new tokens, if one pass computes both."""
        return None if self.per_s is None else self.usual_s + tokens / self.per_s


@dataclass(frozen=True, kw_only=True)
class CollisionsInfo:
    """The arms, in the lab's order."""

    caption: Caption
    arms: tuple[ArmCollisions, ...]


def collisions_info(rows: pd.DataFrame, rates: Mapping[str, float]) -> CollisionsInfo:
    """`rows`: as `labkit.analysis.collisions.collisions` returns them; `rates`: tokens a second of the arms that get a
    line."""
    arms = tuple(_arm(arm, rows[rows["arm"] == arm], rates.get(arm)) for arm in arm_order(rows["arm"]))
    return CollisionsInfo(caption=_caption(arms), arms=arms)


def collisions_figure(info: CollisionsInfo, mode: Mode = "light") -> go.Figure:
    """Dots in the arm's colour and marker, and the promised line of each arm that has a rate."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300)
    longest = max(max(one.tokens) for one in info.arms)
    for one in info.arms:
        color = arm_color(one.arm, mode)
        if one.per_s is not None:
            figure.add_scatter(
                x=[0, longest], y=[one.promised(0), one.promised(longest)], mode="lines", hoverinfo="skip",
                name=f"{one.arm}, predicted", line={"color": color, "dash": arm_dash(one.arm), "width": 1.5},
            )  # fmt: skip
        figure.add_scatter(
            x=one.tokens,
            y=one.gaps_s,
            mode="markers",
            name=one.arm,
            marker={"color": color, "symbol": arm_marker(one.arm), "size": 9, "opacity": 0.8},
            hovertemplate="%{x} new tokens: %{y:.3g} s",
        )
    figure.update_xaxes(title="prompt tokens that were not in the cache", rangemode="tozero")
    figure.update_yaxes(title="longest gap beside it (s)", rangemode="tozero")
    return figure


def _arm(arm: str, rows: pd.DataFrame, per_s: float | None) -> ArmCollisions:
    return ArmCollisions(
        arm=arm,
        tokens=tuple(int(n) for n in rows["tokens"]),
        gaps_s=tuple(float(gap) for gap in rows["gap_s"]),
        usual_s=float(rows["usual_s"].iloc[0]),
        per_s=per_s,
    )


def _caption(arms: tuple[ArmCollisions, ...]) -> Caption:
    if not arms:
        return Caption(title=TITLE, empty="No prompt was computed beside one other stream: labkit run interference")
    count = ", ".join(f"{len(one.tokens)} under {one.arm}" for one in arms)
    lines = "; ".join(
        f"{one.arm} at {plain(one.per_s)} tokens/s and a usual gap of {seconds(one.usual_s)}"
        for one in arms
        if one.per_s is not None
    )
    note = f"A dot: a prompt, and the longest gap of one other stream meanwhile. n = {count}."
    return Caption(
        title=TITLE,
        note=f"{note} Line: {lines}." if lines else note,
        alt=f"{TITLE} {'; '.join(map(_words, arms))}.",
    )


def _words(one: ArmCollisions) -> str:
    longest = max(range(len(one.tokens)), key=lambda n: one.tokens[n])
    beside = counted(one.tokens[longest], "new token")
    return f"{one.arm}: {counted(len(one.tokens), 'dot')}, a gap of {seconds(one.gaps_s[longest])} beside {beside}"
