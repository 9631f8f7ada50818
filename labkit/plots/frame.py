"""What every figure has in common: a question as its title, a line with n under it, a sentence when there is nothing.

Plotly does not wrap titles, so they are wrapped here to what fits a screen of 420 px.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from labkit.plots.theme import MUTED, Mode, template

_TITLE_CHARS = 42
_NOTE_CHARS = 62
_LINE_PX = 19
_AXIS_PX = 62
"""Room for tick labels and the axis title, above the legend."""


@dataclass(frozen=True, kw_only=True)
class Caption:
    """The words of a figure. `empty`: the sentence shown in place of the drawing; `alt`: the finding in words."""

    title: str
    note: str = ""
    empty: str = ""
    alt: str = ""


def wrapped(text: str, chars: int) -> list[str]:
    """`text` in lines of at most `chars` characters."""
    return textwrap.wrap(text, chars, break_long_words=False)


def unbroken(text: str) -> str:
    """`text` that is not wrapped at its spaces: a number and its unit."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def framed(caption: Caption, mode: Mode, height: int = 300, **layout: Any) -> go.Figure:
    """An empty figure with its title, note and margins; `height` is that of the drawing without the title, in px."""
    title, note = wrapped(caption.title, _TITLE_CHARS), wrapped(caption.note, _NOTE_CHARS)
    top = 24 + _LINE_PX * (len(title) + len(note))
    figure = go.Figure()
    figure.update_layout(
        template=template(mode),
        title={"text": _heading(title, note, mode), "x": 0, "xref": "container", "y": 1, "yref": "container"},
        margin={"l": 8, "r": 16, "t": top, "b": 8},
        height=height + top,
        legend={"y": -_AXIS_PX / height, "traceorder": "normal"},
        **layout,
    )
    figure.update_layout(title={"xanchor": "left", "yanchor": "top", "pad": {"t": 20, "l": 4}})
    return figure


def sentence(caption: Caption, mode: Mode) -> go.Figure:
    """The figure of an empty state: the question, and in place of the drawing why there is none and what to do."""
    figure = framed(caption, mode, height=140)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.add_annotation(
        text="<br>".join(wrapped(caption.empty, _NOTE_CHARS)),
        showarrow=False,
        x=0.5,
        y=0.5,
        xref="paper",
        yref="paper",
        font={"color": MUTED[mode], "size": 13},
    )
    return figure


def _heading(title: list[str], note: list[str], mode: Mode) -> str:
    small = f'<span style="font-size:12px;color:{MUTED[mode]}">{"<br>".join(note)}</span>'
    return "<br>".join([f'<span style="font-size:15px"><b>{"<br>".join(title)}</b></span>', *([small] if note else [])])
