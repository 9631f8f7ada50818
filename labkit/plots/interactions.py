"""Do the layers' gains multiply? For each pair: both on, measured, against the product of the two single gains.

From labkit.analysis.effects.arm_gains, so everything is against base on the same requests, the third layer off. Where
the measured mark lies above the product, the layers help each other; below, they get in each other's way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import DASH, plain, times
from labkit.core.arms import LAYERS, Arm, Layer
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.labels import METRIC_WORDS, term_label
from labkit.plots.log_axis import gain_ticks, in_reach
from labkit.plots.panels import across, axis_number, titles_across
from labkit.plots.theme import FAINT, MUTED, Mode, arm_color, arm_marker

TITLE = "Do the layers' gains multiply?"


@dataclass(frozen=True, kw_only=True)
class CornerGain:
    """One arm against base, with its interval where there is one."""

    arm: str
    gain: float | None
    low: float | None = None
    high: float | None = None
    told: bool = True


@dataclass(frozen=True, kw_only=True)
class PairPanel:
    """Two layers. `corners`: base, the first alone, the second alone, both. `product`: of the single gains."""

    title: str
    first: str
    second: str
    corners: tuple[CornerGain, CornerGain, CornerGain, CornerGain]

    @property
    def product(self) -> float | None:
        one, two = self.corners[1].gain, self.corners[2].gain
        return None if one is None or two is None else one * two

    @property
    def words(self) -> str:
        """Measured and product in words."""
        both = self.corners[3].gain
        if both is None or self.product is None:
            return f"{DASH} not measured"
        return f"both {plain(both)}, product {plain(self.product)}: {times(both / self.product)} of it"


@dataclass(frozen=True, kw_only=True)
class InteractionsInfo:
    """A panel for each pair of layers of which anything was measured."""

    caption: Caption
    metric: str
    panels: tuple[PairPanel, ...]


def interactions_info(gains: pd.DataFrame, metric: str = "e2e_s") -> InteractionsInfo:
    """From `arm_gains` (columns of labkit.analysis.effect_rows.ArmGainRow), for one metric."""
    rows = {str(row["arm"]): row for _, row in gains[gains["metric"] == metric].iterrows()}
    made = (_panel(rows, *pair) for pair in combinations(LAYERS, 2))
    kept = tuple(panel for panel in made if any(one.gain is not None for one in panel.corners[1:]))
    return InteractionsInfo(caption=_caption(gains, metric, kept), metric=metric, panels=kept)


def interactions_figure(info: InteractionsInfo, mode: Mode = "light") -> go.Figure:
    """A panel a pair: a line for the second layer off, one for it on, and the product as an open diamond."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=380)
    across(figure, len(info.panels))
    for number, panel in enumerate(info.panels, start=1):
        _draw(figure, panel, axis_number(number), mode)
    titles_across(figure, [f"{panel.first}, {panel.second}" for panel in info.panels], mode)
    ticks, words, ends = gain_ticks(_ends(info))
    figure.update_yaxes(type="log", tickvals=ticks, ticktext=words, range=ends)
    figure.update_yaxes(title="gain against base (log)", selector={"anchor": "x"})
    figure.update_yaxes(showticklabels=False, selector=lambda axis: axis.anchor != "x")
    figure.update_xaxes(range=[-0.25, 1.25], showgrid=False)
    return figure


def _panel(rows: dict[str, pd.Series], first: Layer, second: Layer) -> PairPanel:
    arms = [Arm(**dict.fromkeys(on, True)) for on in ((first,), (second,), (first, second))]
    one, two, both = (_corner(rows, arm.label) for arm in arms)
    return PairPanel(
        title=term_label(f"{first}:{second}"),
        first=term_label(first),
        second=term_label(second),
        corners=(CornerGain(arm="base", gain=1.0), one, two, both),
    )


def _corner(rows: dict[str, pd.Series], arm: str) -> CornerGain:
    if arm not in rows:
        return CornerGain(arm=arm, gain=None, told=False)
    row = rows[arm]
    gain, low, high = (None if pd.isna(row[name]) else float(row[name]) for name in ("gain", "low", "high"))
    told = str(row["verdict"]).startswith(("better", "worse", "same"))
    return CornerGain(arm=arm, gain=gain, low=low, high=high, told=told)


def _ends(info: InteractionsInfo) -> list[float]:
    corners = [corner for panel in info.panels for corner in panel.corners]
    gains = [*(corner.gain for corner in corners), *(panel.product for panel in info.panels)]
    bounds = [bound for corner in corners for bound in (corner.low, corner.high) if bound is not None]
    return in_reach([gain for gain in gains if gain is not None], bounds)


def _draw(figure: go.Figure, panel: PairPanel, at: str, mode: Mode) -> None:
    base, one, two, both = panel.corners
    where = {"xaxis": f"x{at}", "yaxis": f"y{at}"}
    for pair, dash in (((base, one), "solid"), ((two, both), "dash")):
        line = {"color": MUTED[mode], "width": 2, "dash": dash}
        y = [corner.gain for corner in pair]
        figure.add_scatter(x=[0, 1], y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, **where)
    for x, corner in ((0, base), (1, one), (0, two), (1, both)):
        if corner.gain is not None:
            figure.add_scatter(x=[x], y=[corner.gain], **_mark(corner, mode), **_once(figure, corner.arm), **where)
    marker = {"symbol": "x-thin", "size": 13, "line": {"width": 2, "color": MUTED[mode]}}
    product = "product"
    if panel.product is not None:
        figure.add_scatter(x=[1], y=[panel.product], mode="markers", marker=marker, **_once(figure, product), **where)
    figure.update_layout({f"xaxis{at}": {"tickvals": [0, 1], "ticktext": ["off", "on"], "title": panel.first}})


def _once(figure: go.Figure, name: str) -> dict[str, object]:
    """The name of a trace, in the legend when it is the first of that name."""
    return {"name": name, "hovertemplate": "%{y:.2f}x", "showlegend": all(one.name != name for one in figure.data)}


def _mark(corner: CornerGain, mode: Mode) -> dict[str, object]:
    """The arm's own marker, faint without a verdict, and its interval."""
    color = arm_color(corner.arm, mode)
    marker = {
        "symbol": arm_marker(corner.arm),
        "size": 11,
        "color": color,
    }
    mark: dict[str, object] = {"mode": "markers", "marker": marker, "opacity": 1.0 if corner.told else FAINT}
    if corner.gain is not None and corner.low is not None and corner.high is not None:
        ends = {"array": [corner.high - corner.gain], "arrayminus": [corner.gain - corner.low]}
        mark["error_y"] = {"type": "data", "symmetric": False, "color": color, "thickness": 2, "width": 0, **ends}
    return mark


def _caption(gains: pd.DataFrame, metric: str, kept: tuple[PairPanel, ...]) -> Caption:
    if not kept:
        return Caption(title=TITLE, empty="No arm was measured against base, so there is nothing to multiply.")
    n = gains.loc[(gains["metric"] == metric) & gains["gain"].notna(), ["n_tasks", "n_requests"]].max()
    note = (
        f"{METRIC_WORDS.get(metric, metric)}; n = {int(n['n_tasks'])} tasks, {int(n['n_requests'])} requests. "
        "Dashed: the second layer on. Cross: product of the single gains."
    )
    words = "; ".join(f"{panel.title}: {panel.words}" for panel in kept)
    return Caption(title=TITLE, note=note[0].upper() + note[1:], alt=f"Gain against base. {words}")
