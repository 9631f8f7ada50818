"""Panels one below the other in one figure, each with as much height as it has rows."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from labkit.plots.theme import TEXT, Mode

_TEXT_SHARE = 0.58
"""How far right marks may go: what is left is for the numbers in words."""


def panels(figure: go.Figure, rows: Sequence[int], row_px: int, gap_px: int) -> None:
    """Give the figure an x and a y axis for each panel, from the top; a panel has `gap_px` above it for its title."""
    whole = sum(rows) * row_px + gap_px * len(rows)
    top = 1.0
    for number, count in enumerate(rows, start=1):
        start = top - gap_px / whole
        end = start - count * row_px / whole
        name = axis_number(number)
        figure.update_layout(
            {
                f"xaxis{name}": {"domain": [0, _TEXT_SHARE], "anchor": f"y{name}"},
                f"yaxis{name}": {
                    "domain": [max(end, 0), start],
                    "anchor": f"x{name}",
                    "autorange": "reversed",
                    "ticksuffix": " ",
                    "showgrid": False,
                },
            }
        )
        top = end


def axis_number(panel: int) -> str:
    """What plotly calls the axes of the panel, counted from 1: the first has no number."""
    return "" if panel == 1 else str(panel)


def panel_titles(figure: go.Figure, titles: Sequence[str], mode: Mode) -> None:
    """Write each panel's title above it, at its left."""
    for number, title in enumerate(titles, start=1):
        name = axis_number(number)
        figure.add_annotation(
            text=f"<b>{title}</b>", x=0, xref="paper", xanchor="left", y=figure.layout[f"yaxis{name}"].domain[1],
            yref="paper", yanchor="bottom", yshift=4, showarrow=False, font={"size": 13, "color": TEXT[mode]},
        )  # fmt: skip


def across(figure: go.Figure, count: int, gap: float = 0.08) -> None:
    """Give the figure `count` panels side by side."""
    width = (1 - gap * (count - 1)) / count
    for number in range(1, count + 1):
        start, at = (number - 1) * (width + gap), axis_number(number)
        figure.update_layout(
            {
                f"xaxis{at}": {"domain": [start, start + width], "anchor": f"y{at}"},
                f"yaxis{at}": {"domain": [0, 0.92], "anchor": f"x{at}"},
            }
        )


def titles_across(figure: go.Figure, titles: Sequence[str], mode: Mode) -> None:
    """Write each panel's title above its middle."""
    for number, title in enumerate(titles, start=1):
        start, end = figure.layout[f"xaxis{axis_number(number)}"].domain
        figure.add_annotation(
            text=f"<b>{title}</b>", x=(start + end) / 2, xref="paper", xanchor="center", y=1, yref="paper",
            yanchor="top", showarrow=False, font={"size": 13, "color": TEXT[mode]},
        )  # fmt: skip
