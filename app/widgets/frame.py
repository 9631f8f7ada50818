"""What stands around every page: what to say when it cannot go on, and where its numbers come from."""

from __future__ import annotations

import labkit
import streamlit as st
from labkit.core.errors import LabError
from labkit.core.paths import runs_dir


def refused(error: LabError) -> None:
    """A page that cannot go on: what happened, then what to do."""
    st.error(f"{error.message}.\n\n{error.hint}".strip(), icon=":material/error:")


def footer() -> None:
    """Which lab this is, and where its runs live."""
    st.caption(
        f"Agentic Inference Lab {labkit.__version__} · runs: `{runs_dir()}` · `LABKIT_RUNS` names another folder"
    )
