"""What did each arm spend its seconds on? The wall time of the steps that every arm finished, split so that it adds up.

What a client can split on its own: send to first token (queue, prefill and KV transfer together) and first token to the
last byte (decode). Nothing is left over: the two parts are the end-to-end time.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import DASH, percent
from labkit.core.arms import BASE
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import arms_of, common, counted
from labkit.plots.theme import Mode, part_color

TITLE = "What did each arm spend its seconds on?"


@dataclass(frozen=True, kw_only=True)
class ArmLedger:
    """Seconds of one arm, summed over the common steps."""

    arm: str
    first_s: float
    rest_s: float
    n: int

    @property
    def total_s(self) -> float:
        return self.first_s + self.rest_s


@dataclass(frozen=True, kw_only=True)
class WallLedgerInfo:
    """One ledger per arm, in the lab's order."""

    caption: Caption
    arms: tuple[ArmLedger, ...]


def wall_ledger_info(steps: pd.DataFrame) -> WallLedgerInfo:
    """Seconds to the first token and after it, over the steps that all arms have in common."""
    kept = common(steps[steps["t_first_token"].notna()])
    ledgers = tuple(_ledger(kept[kept["arm"] == arm], arm) for arm in arms_of(kept))
    return WallLedgerInfo(caption=_caption(ledgers), arms=ledgers)


def wall_ledger_figure(info: WallLedgerInfo, mode: Mode = "light") -> go.Figure:
    """Stacked horizontal bars with the total at their end."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=110 + 44 * len(info.arms), barmode="stack")
    names = [ledger.arm for ledger in info.arms]
    _add(figure, "to first token", names, [ledger.first_s for ledger in info.arms], part_color("first", mode))
    _add(figure, "after first token", names, [ledger.rest_s for ledger in info.arms], part_color("rest", mode))
    for ledger in info.arms:
        text = f"{ledger.total_s:.1f} s"
        figure.add_annotation(x=ledger.total_s, y=ledger.arm, text=text, showarrow=False, xanchor="left", xshift=6)
    longest = max(ledger.total_s for ledger in info.arms)
    figure.update_xaxes(title="seconds, summed", range=[0, longest * 1.25 or 1], nticks=6)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return figure


def _ledger(steps: pd.DataFrame, arm: str) -> ArmLedger:
    first = float((steps["t_first_token"] - steps["t_send"]).sum())
    rest = float((steps["t_end"] - steps["t_first_token"]).sum())
    return ArmLedger(arm=arm, first_s=first, rest_s=rest, n=len(steps))


def _add(figure: go.Figure, name: str, arms: list[str], seconds: list[float], color: str) -> None:
    hover = "%{y}: %{x:.2f} s<extra>" + name + "</extra>"
    figure.add_bar(orientation="h", y=arms, x=seconds, name=name, marker_color=color, hovertemplate=hover)


def _caption(ledgers: tuple[ArmLedger, ...]) -> Caption:
    if not ledgers:
        return Caption(title=TITLE, empty="No step was finished by every arm yet, so no sums can be compared.")
    words = "; ".join(f"{one.arm}: {one.first_s:.1f} s to first token, {one.rest_s:.1f} s after it" for one in ledgers)
    count = counted(ledgers[0].n, "step")
    note = f"Over the {count} that {_finishers([one.arm for one in ledgers])} finished."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {words}; {count}.")


def _finishers(arms: list[str]) -> str:
    """Who finished all of the steps: the arm itself when it is alone, for then nothing is compared."""
    return arms[0] if len(arms) == 1 else "both arms" if len(arms) == 2 else f"all {len(arms)} arms"


def finding(info: WallLedgerInfo) -> str:
    """The ledger against base in words: where base's seconds go, and what of them each arm takes. Empty: why not."""
    base = next((one for one in info.arms if one.arm == BASE.label), None)
    if base is None or not base.total_s:
        return info.caption.empty or "base was not measured, so nothing can be said against it."
    lines = [
        f"base spends {percent(base.first_s / base.total_s)} of its seconds before the first token "
        f"({counted(base.n, 'step')})."
    ]
    for one in info.arms:
        if one is not base:
            first, rest = _over(one.first_s, base.first_s), _over(one.rest_s, base.rest_s)
            lines.append(f"{one.arm} takes {first} of base's time to the first token and {rest} of its time after it.")
    return "\n".join(lines)


def _over(part: float, whole: float) -> str:
    return percent(part / whole) if whole else DASH
