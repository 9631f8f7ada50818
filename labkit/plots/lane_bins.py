"""Lanes with too many spans to draw one by one: what took most of each little while, as cells of one heat map.

A heat map is one shape whatever its size, and its cells travel as bytes: a hundred lanes of 300 cells are 40 kB.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from labkit.plots.lane_records import Bins, LanesInfo
from labkit.plots.lane_words import PARTS
from labkit.plots.theme import Mode, part_color


def add_bins(figure: go.Figure, info: LanesInfo, mode: Mode) -> None:
    """The cells, and a legend of the parts that are in them."""
    bins = info.bins
    if bins is None:
        return
    cells = np.array([np.frombuffer(row, dtype=np.uint8) for row in bins.cells])
    figure.add_heatmap(
        z=cells,
        x0=bins.start + bins.width / 2,
        dx=bins.width,
        zmin=-0.5,
        zmax=len(bins.parts) + 0.5,
        colorscale=_scale(bins, mode),
        showscale=False,
        ygap=2 if len(info.lanes) <= 40 else 0,
        hovertemplate="%{y}, about second %{x:.0f}<extra></extra>",
    )
    present = set(cells.ravel().tolist())
    for place, part in enumerate(bins.parts, start=1):
        if place in present:
            _key(figure, part, mode)


def _scale(bins: Bins, mode: Mode) -> list[tuple[float, str]]:
    """A stepped scale: nothing, then each part."""
    colors = ["rgba(0,0,0,0)", *(part_color(PARTS[part][1], mode) for part in bins.parts)]
    share = 1 / len(colors)
    return [(edge, color) for n, color in enumerate(colors) for edge in (n * share, min(1.0, (n + 1) * share))]


def _key(figure: go.Figure, part: str, mode: Mode) -> None:
    label, color = PARTS[part]
    marker = {"symbol": "square", "size": 11, "color": part_color(color, mode)}
    figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=label, hoverinfo="skip")
