"""What does a step cost, by the number of steps? Mean seconds of a step, split as the ledger splits them, cut by cut.

Growth in step with the steps would make bars of one height; what makes them higher is what grows faster. Only whole
passes count (analysis/passes.py), and only those whose engine told its times.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import seconds
from labkit.analysis.ledger import PARTS, ledger
from labkit.analysis.passes import PASS_KEY, passes
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.panels import across, axis_number, titles_across
from labkit.plots.rows import arms_of, counted
from labkit.plots.theme import Mode, Part, part_color

TITLE = "What does a step cost, by the number of steps?"
PART_NAMES: dict[Part, str] = {
    "client_lag": "client lag",
    "server": "HTTP server",
    "queue": "queue",
    "prefill": "prefill",
    "transfer": "KV transfer",
    "decode": "decode",
    "tool": "tools",
    "other": "other",
}
_SHOWN = 0.005
"""A part below this share of every bar is not drawn."""


@dataclass(frozen=True, kw_only=True)
class StepsBar:
    """One arm cut after `steps`: mean seconds of a step by part; `n` steps in `passes` whole passes."""

    steps: int
    parts: dict[str, float]
    n: int
    passes: int

    @property
    def total_s(self) -> float:
        return sum(self.parts.values())


@dataclass(frozen=True, kw_only=True)
class StepsLedgerInfo:
    """A panel for each arm, in the lab's order. `names`: the parts that are large enough to be seen somewhere."""

    caption: Caption
    panels: dict[str, tuple[StepsBar, ...]]
    names: tuple[Part, ...] = ()


def steps_ledger_info(steps: pd.DataFrame) -> StepsLedgerInfo:
    """From the steps of a run that cut an agent after so many of them; parts below 0 count as 0."""
    whole = passes(steps)
    whole = whole[whole["whole"]]
    panels = {arm: _bars(whole[whole["arm"] == arm], steps) for arm in arms_of(whole)}
    kept = {arm: bars for arm, bars in panels.items() if bars}
    return StepsLedgerInfo(caption=_caption(kept), panels=kept, names=_names(kept))


def steps_ledger_figure(info: StepsLedgerInfo, mode: Mode = "light") -> go.Figure:
    """Stacked bars, a panel for each arm side by side on one scale, with the whole written above each bar."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300, barmode="stack")
    across(figure, len(info.panels))
    titles_across(figure, list(info.panels), mode)
    highest = max(bar.total_s for bars in info.panels.values() for bar in bars)
    for number, bars in enumerate(info.panels.values(), start=1):
        _draw(figure, bars, info.names, number, mode)
        at = axis_number(number)
        figure.update_layout({f"yaxis{at}": {"range": [0, highest * 1.2], "title": "seconds a step" * (number == 1)}})
        figure.update_layout({f"xaxis{at}": {"title": "steps of the agent", "type": "category"}})
    return figure


def _draw(figure: go.Figure, bars: tuple[StepsBar, ...], names: tuple[Part, ...], number: int, mode: Mode) -> None:
    at = axis_number(number)
    counts = [str(bar.steps) for bar in bars]
    for part in names:
        figure.add_bar(
            x=counts, y=[bar.parts.get(part, 0.0) for bar in bars], name=PART_NAMES[part], legendgroup=part,
            showlegend=number == 1, marker_color=part_color(part, mode), xaxis=f"x{at}", yaxis=f"y{at}",
            hovertemplate="%{x} steps: %{y:.3f} s<extra>" + PART_NAMES[part] + "</extra>",
        )  # fmt: skip
    for place, bar in enumerate(bars):
        figure.add_annotation(
            x=place, y=bar.total_s, xref=f"x{at}", yref=f"y{at}", text=seconds(bar.total_s), showarrow=False,
            yanchor="bottom", font={"size": 12},
        )  # fmt: skip


def _bars(whole: pd.DataFrame, steps: pd.DataFrame) -> tuple[StepsBar, ...]:
    bars = []
    for count, of_count in whole.groupby("steps", sort=True):
        row = ledger(steps.merge(of_count[PASS_KEY], on=PASS_KEY)).iloc[0]
        if pd.notna(row["other"]) and not row["n_unsplit"]:
            n = int(row["n"])
            parts = {part: max(0.0, float(row[part])) / n for part in PARTS if pd.notna(row[part])}
            bars.append(StepsBar(steps=int(str(count)), parts=parts, n=n, passes=len(of_count)))
    return tuple(bars)


def _names(panels: dict[str, tuple[StepsBar, ...]]) -> tuple[Part, ...]:
    every = [bar for bars in panels.values() for bar in bars]
    return tuple(part for part in PART_NAMES if any(bar.parts.get(part, 0.0) > _SHOWN * bar.total_s for bar in every))


def _caption(panels: dict[str, tuple[StepsBar, ...]]) -> Caption:
    if not panels:
        return Caption(
            title=TITLE, empty="No whole pass of so many steps whose engine told its times: labkit run steps."
        )
    fewest = min(bar.passes for bars in panels.values() for bar in bars)
    n = "1 pass" if fewest == 1 else f"{fewest} passes"
    words = "; ".join(f"{arm}: {_ends(bars)}" for arm, bars in panels.items())
    note = f"Mean over the steps of {n} per bar. Bars of one height: growth in step with the steps. Tools as recorded."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {words}; n = {n} per bar.")


def _ends(bars: tuple[StepsBar, ...]) -> str:
    first, last = bars[0], bars[-1]
    return (
        f"{seconds(first.total_s)} at {counted(first.steps, 'step')}, {seconds(last.total_s)} at {last.steps}, "
        f"of it {seconds(last.parts.get('prefill', 0.0))} prefill"
    )
