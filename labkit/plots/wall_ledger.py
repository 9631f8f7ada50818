"""What did each arm spend its seconds on? The wall time of the steps that every arm finished, split so that it adds up.

Where the engine told its times, the parts are those of the ledger (analysis/ledger.py), tools and the unexplained rest
included. Where it did not, there is what a client can split on its own: send to first token (queue, prefill and KV
transfer together) and first token to the last byte. A part below a thousandth of every arm is not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import DASH, percent
from labkit.analysis.ledger import PARTS, ledger
from labkit.core.arms import BASE
from labkit.plots.frame import Caption, framed, sentence, unbroken
from labkit.plots.rows import arms_of, common, counted
from labkit.plots.theme import Mode, Part, part_color

TITLE = "What did each arm spend its seconds on?"
_NAMES: dict[str, tuple[str, Part]] = {
    "first": ("to first token", "first"),
    "rest": ("after first token", "rest"),
    "client_lag": ("client lag", "client_lag"),
    "server": ("HTTP server", "server"),
    "queue": ("queue", "queue"),
    "prefill": ("prefill", "prefill"),
    "transfer": ("KV transfer", "transfer"),
    "decode": ("decode", "decode"),
    "tool": ("tools", "tool"),
    "other": ("other", "other"),
}
_SHOWN = 0.001


@dataclass(frozen=True, kw_only=True)
class ArmLedger:
    """Seconds of one arm, summed over the common steps. `parts`: by name, None where the engine told no times."""

    arm: str
    first_s: float
    rest_s: float
    n: int
    parts: dict[str, float] | None = None
    unaccounted_share: float | None = None

    @property
    def total_s(self) -> float:
        return sum(self.drawn.values())

    @property
    def drawn(self) -> dict[str, float]:
        """What is stacked, by part. A residual below 0 is no bar."""
        if self.parts is None:
            return {"first": self.first_s, "rest": self.rest_s}
        return {name: max(0.0, seconds) for name, seconds in self.parts.items()}


@dataclass(frozen=True, kw_only=True)
class WallLedgerInfo:
    """One ledger per arm, in the lab's order. `names`: the parts that are large enough to be seen somewhere."""

    caption: Caption
    arms: tuple[ArmLedger, ...]
    names: tuple[str, ...] = ()


def wall_ledger_info(steps: pd.DataFrame) -> WallLedgerInfo:
    """Seconds by what they were spent on, over the steps that all arms have in common."""
    kept = common(steps[steps["t_first_token"].notna()])
    rows = {row["arm"]: row for _, row in ledger(kept).iterrows()}
    ledgers = tuple(_ledger(kept[kept["arm"] == arm], arm, rows[arm]) for arm in arms_of(kept))
    return WallLedgerInfo(caption=_caption(ledgers), arms=ledgers, names=_names(ledgers))


def wall_ledger_figure(info: WallLedgerInfo, mode: Mode = "light") -> go.Figure:
    """Stacked horizontal bars with the total at their end."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=110 + 44 * len(info.arms), barmode="stack")
    names = [one.arm for one in info.arms]
    for part in info.names:
        label, color = _NAMES[part]
        seconds = [one.drawn.get(part) for one in info.arms]
        hover = "%{y}: %{x:.3f} s<extra>" + label + "</extra>"
        color_of = part_color(color, mode)
        figure.add_bar(orientation="h", y=names, x=seconds, name=label, marker_color=color_of, hovertemplate=hover)
    for one in info.arms:
        text = f"{one.total_s:.1f} s"
        figure.add_annotation(x=one.total_s, y=one.arm, text=text, showarrow=False, xanchor="left", xshift=6)
    longest = max(one.total_s for one in info.arms)
    figure.update_xaxes(title="seconds, summed", range=[0, longest * 1.25 or 1], nticks=6)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return figure


def _ledger(steps: pd.DataFrame, arm: str, row: pd.Series[Any]) -> ArmLedger:
    first = float((steps["t_first_token"] - steps["t_send"]).sum())
    rest = float((steps["t_end"] - steps["t_first_token"]).sum())
    parts = _parts(row, len(steps))
    share = float(row["unaccounted_share"]) if parts else None
    return ArmLedger(arm=arm, first_s=first, rest_s=rest, n=len(steps), parts=parts, unaccounted_share=share)


def _parts(row: pd.Series[Any], n: int) -> dict[str, float] | None:
    """The ledger's parts; None when they are not over all of the steps that the arms have in common."""
    if row["n"] != n or row["n_unsplit"]:
        return None
    return {name: float(row[name]) for name in PARTS if not pd.isna(row[name])}


def _names(ledgers: Sequence[ArmLedger]) -> tuple[str, ...]:
    return tuple(part for part in _NAMES if any(one.drawn.get(part, 0.0) > _SHOWN * one.total_s for one in ledgers))


def _caption(ledgers: tuple[ArmLedger, ...]) -> Caption:
    if not ledgers:
        return Caption(title=TITLE, empty="No step was finished by every arm yet, so no sums can be compared.")
    words = "; ".join(f"{one.arm}: {one.first_s:.1f} s to first token, {one.rest_s:.1f} s after it" for one in ledgers)
    count = counted(ledgers[0].n, "step")
    who = _finishers([one.arm for one in ledgers])
    note = f"Over the {count} that {who} finished.{_tools(ledgers)}{_residual(ledgers)}"
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {words}; {count}.")


def _tools(ledgers: Sequence[ArmLedger]) -> str:
    """A replay runs no tool; the figure is of the agent's time all the same."""
    return " Tools as long as recorded." if any(one.drawn.get("tool") for one in ledgers) else ""


def _residual(ledgers: Sequence[ArmLedger]) -> str:
    """How much of the time no clock names, at worst; and which arms' engines named none."""
    shares = [one.unaccounted_share for one in ledgers if one.unaccounted_share is not None]
    unsplit = [one.arm for one in ledgers if one.parts is None]
    if not shares:
        return ""
    said = f" No clock names {unbroken(percent(max(shares)))} of an arm's time at most."
    return said + (f" The engine of {', '.join(unsplit)} told no times." if unsplit else "")


def _finishers(arms: list[str]) -> str:
    """Who finished all of the steps: the arm itself when it is alone, for then nothing is compared."""
    return arms[0] if len(arms) == 1 else "both arms" if len(arms) == 2 else f"all {len(arms)} arms"


def finding(info: WallLedgerInfo) -> str:
    """The ledger against base in words: where base's seconds go, and what of them each arm takes. Empty: why not."""
    base = next((one for one in info.arms if one.arm == BASE.label), None)
    if base is None or not base.first_s + base.rest_s:
        return info.caption.empty or "base was not measured, so nothing can be said against it."
    lines = [
        f"base spends {percent(base.first_s / (base.first_s + base.rest_s))} of its seconds before the first token "
        f"({counted(base.n, 'step')})."
    ]
    for one in info.arms:
        if one is not base:
            first, rest = _over(one.first_s, base.first_s), _over(one.rest_s, base.rest_s)
            lines.append(f"{one.arm} takes {first} of base's time to the first token and {rest} of its time after it.")
    return "\n".join(lines)


def _over(part: float, whole: float) -> str:
    return percent(part / whole) if whole else DASH
