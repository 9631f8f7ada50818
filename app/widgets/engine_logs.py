"""Logs that follow: the end of what one process prints, every second, and those of starts that were refused."""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.engines.logs import LogSource
from labkit.experiments.dashboard.literal import literal

import loaders.engines as data

EMPTY = "No engine has left a log yet. Start one on **Fleet**; its logs stay here after it has ended."
LEVELS = {"all": "Everything", "warnings": "Warnings and errors", "errors": "Errors"}
WANTED = {"all": ("error", "warning", "other"), "warnings": ("error", "warning"), "errors": ("error",)}
LINES = [50, 200, 1000]


def logs() -> None:
    """Choose an engine and a process, and follow what it prints."""
    sources = data.logs()
    if not sources:
        st.info(EMPTY, icon=":material/lightbulb:")
        return
    source, role = pick(sources)
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
    level = left.segmented_control(
        "Level",
        list(LEVELS),
        key="level",
        default="all",
        required=True,
        format_func=LEVELS.__getitem__,
        help="A traceback belongs to its error.",
    )
    lines = middle.selectbox("Lines", LINES, index=1, key="lines", help="The last ones; out of the last 256 KiB.")
    follow = right.toggle("Follow", value=True, key="follow", help="Off: the log stands still, to be read or copied.")
    st.fragment(tail, run_every="1s" if follow else None)(source, role, (level, lines), list(sources))


def pick(sources: dict[str, LogSource]) -> tuple[LogSource, str]:
    """The engine and the process; both stand in the address."""
    left, right = st.columns([3, 1])
    engine = left.selectbox(
        "Engine",
        list(sources),
        key="engine",
        bind="query-params",
        help="Those of the fleet first, then those that have ended, starts that were refused among them.",
    )
    source = sources[engine]
    role = right.selectbox(
        "Process", list(source.roles), key="role", bind="query-params", help="Each has a log of its own."
    )
    return source, role


def tail(source: LogSource, role: str, wanted: tuple[str, int], known: list[str]) -> None:
    """The end of the log, read anew; when engines have come or gone since, the page is drawn anew."""
    if list(data.logs()) != known:
        st.rerun()
    (level, lines), path = wanted, source.roles[role]
    shown = data.log(path, lines, WANTED[level])
    found = [
        f"{n} {what}{'s' * (n != 1)}" for n, what in ((shown.errors, "error line"), (shown.warnings, "warning")) if n
    ]
    st.caption(" · ".join([literal(source.label), literal(shown.words), *found, f"`{path}`"]))
    with st.container(height=560, border=False, autoscroll=True):
        st.code("\n".join(shown.lines) or "Nothing of this level.", language="log", wrap_lines=True)
