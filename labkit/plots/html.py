"""What a page without a network needs to draw a figure: plotly.js, and the figure as JSON that HTML cannot end."""

from __future__ import annotations

import functools

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs


@functools.cache
def plotly_js() -> str:
    """The source of plotly.js, about 4.8 MB: put it into a page once."""
    return str(get_plotlyjs())


def figure_json(figure: go.Figure) -> str:
    """The figure's data and layout as JSON that is safe inside a `<script>`: it holds no `<`, `>` or `&`."""
    text = str(figure.to_json())
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
