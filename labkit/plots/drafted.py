"""How much of what was drafted was accepted, turn by turn, and how long were the replies?"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import percent
from labkit.analysis.tables import is_finished, measured, numbers
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, part_color

TITLE = "How many drafted tokens were accepted?"
_ROOM = 12
"""Up to so many turns, the share that was accepted is written under each bar."""
_HEIGHT_PX, _TWO_LINES_PX = 280, 84
"""Of the drawing, and the room below it that tick labels of two lines and their title take."""


@dataclass(frozen=True, kw_only=True)
class DraftedInfo:
    """Mean tokens of a step at each of `turns`; `generated` is None where not reported. `n`: steps."""

    caption: Caption
    turns: tuple[int, ...] = ()
    accepted: tuple[float, ...] = ()
    refused: tuple[float, ...] = ()
    generated: tuple[float | None, ...] = ()
    n: int = 0

    @property
    def rates(self) -> list[float | None]:
        """Accepted over drafted at each turn."""
        both = zip(self.accepted, self.refused, strict=True)
        return [accepted / (accepted + refused) if accepted + refused else None for accepted, refused in both]


def drafted_info(steps: pd.DataFrame) -> DraftedInfo:
    """Over the finished steps that reported their drafts, of all drafters in `steps` together."""
    kept = measured(steps)
    kept = kept[is_finished(kept) & kept["drafted_tokens"].notna() & kept["accepted_tokens"].notna()]
    if not len(kept):
        return DraftedInfo(caption=Caption(title=TITLE, empty="No step has reported its drafts."))
    drafted, accepted = numbers(kept, "drafted_tokens"), numbers(kept, "accepted_tokens")
    table = pd.DataFrame(
        {
            "turn": kept["turn"].to_numpy(),
            "accepted": accepted,
            "refused": drafted - accepted,
            "generated": numbers(kept, "completion_tokens"),
        }
    )
    means = table.groupby("turn").mean()
    return DraftedInfo(
        caption=_caption(float(drafted.sum()), float(accepted.sum()), len(kept)),
        turns=tuple(map(int, means.index)),
        accepted=tuple(map(float, means["accepted"])),
        refused=tuple(map(float, means["refused"])),
        generated=tuple(None if pd.isna(value) else float(value) for value in means["generated"]),
        n=len(kept),
    )


def drafted_figure(info: DraftedInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars: accepted, then what was drafted in vain; a line for the whole reply."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=_HEIGHT_PX, barmode="stack", hovermode="x unified")
    for name, tokens, color in (
        ("accepted", info.accepted, part_color("accepted", mode)),
        ("drafted in vain", info.refused, part_color("other", mode)),
    ):
        figure.add_bar(x=info.turns, y=tokens, name=name, marker_color=color, hovertemplate="%{y:,.0f}")
    if any(value is not None for value in info.generated):
        color = part_color("generated", mode)
        figure.add_scatter(
            x=info.turns, y=info.generated, name="whole reply", mode="lines+markers", hovertemplate="%{y:,.0f}",
            line={"color": color, "dash": "dot", "width": 2}, marker={"color": color, "symbol": "diamond", "size": 8},
        )  # fmt: skip
    figure.update_xaxes(title="turn", **turn_ticks(max(info.turns)))
    if len(info.turns) <= _ROOM:
        labels = [f"{turn}<br>{percent(rate)}" for turn, rate in zip(info.turns, info.rates, strict=True)]
        figure.update_xaxes(title="turn, and share accepted", tickvals=list(info.turns), ticktext=labels)
        figure.update_layout(legend={"y": -_TWO_LINES_PX / _HEIGHT_PX})
    figure.update_yaxes(title="tokens of a step", rangemode="tozero", tickformat=",d")
    return figure


def _caption(drafted: float, accepted: float, n: int) -> Caption:
    words = f"{accepted:,.0f} of {drafted:,.0f} drafted tokens accepted; {counted(n, 'step')}, mean per turn."
    return Caption(title=TITLE, note=words, alt=f"{TITLE} {words}")
