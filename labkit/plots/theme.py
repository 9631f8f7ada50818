"""One look for notebook, report and dashboard: the template, and what each colour and marker means.

An arm keeps its colour and its marker on every figure; a layer has those of the arm that it is alone in. The eight
colours are at least 0.05 apart in OKLab for normal sight and for simulated protanopia, deuteranopia and tritanopia
(Machado et al. 2009), as far from every part that is drawn beside them in the lanes, and have a contrast of at least
3:1 with the page; the marker and the written label carry the same meaning without colour. Tests hold these numbers.
A hollow mark is a published claim, a faint one has too few steps or requests to tell.
"""

from __future__ import annotations

from typing import Literal

import plotly.graph_objects as go

from labkit.core.arms import ARMS, arm_named

Mode = Literal["light", "dark"]
MODES: tuple[Mode, ...] = ("light", "dark")
SURFACE: dict[Mode, str] = {"light": "#ffffff", "dark": "#11161c"}
TEXT: dict[Mode, str] = {"light": "#1c2530", "dark": "#e8ecf0"}
MUTED: dict[Mode, str] = {"light": "#5b6671", "dark": "#a3adb8"}
GRID: dict[Mode, str] = {"light": "#e3e7eb", "dark": "#2b333c"}
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

_COLORS: dict[Mode, tuple[str, ...]] = {
    "light": ("#5f656b", "#21497f", "#e07509", "#00845c", "#b76fa3", "#2989e5", "#a8400a", "#16202a"),
    "dark": ("#8a8f95", "#4a85e6", "#fbd23d", "#0a8a3e", "#dc95aa", "#3fc6fd", "#ff741b", "#f2f2f2"),
}
_ORDER = tuple(arm.label for arm in ARMS)
_DASHES = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot", "8px,2px,2px,2px,2px,2px", "4px,2px")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "star-diamond", "pentagon", "cross", "star")

Part = Literal[
    "computed", "cached", "unknown", "moved", "first", "rest",
    "client_lag", "server", "queue", "prefill", "transfer", "decode", "tool", "other",
    "new", "template_drift", "rounding", "routing", "eviction", "off",
    "generated", "accepted",
]  # fmt: skip
_PARTS: dict[Mode, dict[Part, str]] = {
    "light": {
        "computed": "#b35806",
        "cached": "#7869a3",
        "unknown": "#a9b1b9",
        "moved": "#50917b",
        "first": "#b35806",
        "rest": "#789dc5",
        "client_lag": "#943ad8",
        "server": "#5fc557",
        "queue": "#4e1188",
        "prefill": "#b35806",
        "transfer": "#50917b",
        "decode": "#789dc5",
        "tool": "#933425",
        "other": "#a9b1b9",
        "new": "#b35806",
        "template_drift": "#602faf",
        "rounding": "#e49635",
        "routing": "#161a5c",
        "eviction": "#762413",
        "off": "#a9b1b9",
        "generated": "#1b4e6a",
        "accepted": "#279e74",
    },
    "dark": {
        "computed": "#d88a57",
        "cached": "#a095d5",
        "unknown": "#777f87",
        "moved": "#73ebde",
        "first": "#d88a57",
        "rest": "#6ea6d6",
        "client_lag": "#4056c2",
        "server": "#c3c70f",
        "queue": "#67502d",
        "prefill": "#d88a57",
        "transfer": "#73ebde",
        "decode": "#6ea6d6",
        "tool": "#b96232",
        "other": "#777f87",
        "new": "#d88a57",
        "template_drift": "#7f1db3",
        "rounding": "#62db85",
        "routing": "#815e20",
        "eviction": "#9f3a81",
        "off": "#777f87",
        "generated": "#35d4ae",
        "accepted": "#d9ff40",
    },
}
"""Parts of a whole: prompt tokens by where their KV came from, a reply's by who guessed them, seconds by their use."""


def arm_color(label: str, mode: Mode = "light") -> str:
    """The colour of an arm, by its label. Raises UnknownName."""
    return _COLORS[mode][_ORDER.index(arm_named(label).label)]


FAINT = 0.4
"""Opacity of what has too few steps or requests to tell; a claim is hollow, and never faint."""


def arm_marker(label: str) -> str:
    """The plotly marker symbol of an arm, by its label. Raises UnknownName."""
    return _MARKERS[_ORDER.index(arm_named(label).label)]


def arm_dash(label: str) -> str:
    """The plotly dash of an arm's line where it has no markers, by its label. Raises UnknownName."""
    return _DASHES[_ORDER.index(arm_named(label).label)]


def part_color(part: Part, mode: Mode = "light") -> str:
    """The colour of a part of a whole (tokens by source, seconds by use)."""
    return _PARTS[mode][part]


def arm_order(labels: object) -> list[str]:
    """The distinct arm labels in the lab's order: base, then one layer, two, all."""
    present = set(labels)  # type: ignore[call-overload]
    return [label for label in _ORDER if label in present]


def template(mode: Mode = "light") -> go.layout.Template:
    """The plotly template; opaque, so that a figure reads the same in any notebook theme."""
    axis = {
        "gridcolor": GRID[mode],
        "linecolor": GRID[mode],
        "zerolinecolor": GRID[mode],
        "automargin": True,
        "tickfont": {"color": MUTED[mode]},
        "title": {"font": {"color": MUTED[mode], "size": 12}, "standoff": 8},
    }
    layout = {
        "font": {"family": FONT, "size": 13, "color": TEXT[mode]},
        "paper_bgcolor": SURFACE[mode],
        "plot_bgcolor": SURFACE[mode],
        "colorway": list(_COLORS[mode]),
        "xaxis": axis,
        "yaxis": axis,
        "hoverlabel": {"font": {"family": FONT, "size": 12}},
        "legend": {"orientation": "h", "yanchor": "top", "x": 0, "xanchor": "left"},
        "bargap": 0.35,
    }
    return go.layout.Template(layout=layout)
