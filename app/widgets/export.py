"""Several runs picked at once, and one download that is made in the background."""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.files.packing import Packing
from labkit.experiments.dashboard.literal import literal

import loaders
from widgets.runs import NO_RUN, PICKED

RUNS, WRITTEN = "runs", "runs_written"
EXAMPLE = " Or choose an example that came with the project."
TOO_LARGE = (
    "{size}: too large for a browser, since a download passes through the dashboard's memory as a whole. Copy the file "
    "from this place, on the machine that runs the dashboard, before you prepare another one or close this tab; or use "
    "the command below, which writes it where you say."
)
PREPARED = "prepared"
"""The download that was asked for last: what it is of, and its making."""


def pick_runs() -> dict[str, str] | None:
    """Name to label of the runs to export; None, and what to do next, while there is no run."""
    asked = st.query_params.get_all(RUNS)
    wanted = asked or [st.query_params.get("run_id") or st.session_state.get(PICKED) or ""]
    found = [loaders.choices(name or None) for name in wanted]
    for problem in dict.fromkeys(each.problem for each in found if each.problem):
        st.warning(literal(problem), icon=":material/search_off:")
    labels = {name: label for each in found for name, label in each.labels.items()}
    means = [each.picked for each in found if each.picked]
    if not means:
        st.info(f"{NO_RUN}{EXAMPLE if labels else ''}", icon=":material/lightbulb:")
    if not labels:
        return None
    _from_address(asked, means, labels)
    names = st.multiselect("Runs", list(labels), key=RUNS, format_func=labels.__getitem__, help="One or several.")
    st.query_params[RUNS] = st.session_state[WRITTEN] = list(names)
    return {name: labels[name] for name in names}


def _from_address(asked: list[str], means: list[str], labels: dict[str, str]) -> None:
    """Pick what the address names anew: at first the run of the page before, or the newest."""
    kept = st.session_state.get(RUNS)
    if kept is None or asked != st.session_state.get(WRITTEN, asked) or not set(kept) <= set(labels):
        st.session_state[RUNS] = list(dict.fromkeys(means))


def prepare(names: list[str], formats: list[str]) -> None:
    """Begin to make the download; what was made before is removed."""
    if before := st.session_state.pop(PREPARED, None):
        before[-1].close()
    st.session_state[PREPARED] = (names, formats, Packing(names, formats))


def prepared(names: list[str], formats: list[str]) -> Packing | None:
    """The download of just these, when it was asked for."""
    kept = st.session_state.get(PREPARED)
    return kept[-1] if kept and kept[:2] == (names, formats) else None


@st.fragment(run_every="1s")
def being_made(packing: Packing) -> None:
    """How far it is; the page is drawn anew when it is done."""
    if packing.done:
        st.rerun()
    said = packing.progress
    share = min(1.0, said.done / said.total) if said.done is not None and said.total else 0.0
    st.progress(share, text=literal(said.said))


def download(packing: Packing, size: str) -> None:
    """The file, or why there is none. It is read when somebody clicks, and not before."""
    if packing.file is None:
        st.error(literal(packing.error), icon=":material/error:")
        return
    if packing.too_large:
        st.info(TOO_LARGE.format(size=size[0].upper() + size[1:]), icon=":material/hard_drive:")
        st.code(str(packing.file), language=None, wrap_lines=True)
        return
    st.download_button(
        f"Download {packing.file.name} ({size})", packing.read, packing.file.name, packing.mime, key="download",
        on_click="ignore", type="primary", icon=":material/download:",
    )  # fmt: skip
    st.caption("It is kept on this machine until you prepare another one or close this tab.")
