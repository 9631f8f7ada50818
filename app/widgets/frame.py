"""What stands around every page: what to say when it cannot go on, and where its numbers come from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import labkit
import streamlit as st
from labkit.core.errors import LabError
from labkit.core.paths import runs_dir
from labkit.experiments.dashboard.literal import literal

P = ParamSpec("P")
T = TypeVar("T")


def refused(error: LabError) -> None:
    """A page that cannot go on: what happened, then what to do."""
    st.error(f"{literal(error.message)}.\n\n{literal(error.hint)}".strip(), icon=":material/error:")


def refusals_said(work: Callable[P, T]) -> Callable[P, T | None]:
    """For fragments and callbacks: they run without the router, so what they refuse is said where they stand."""

    @functools.wraps(work)
    def said(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return work(*args, **kwargs)
        except LabError as error:
            refused(error)
            return None

    return said


def footer() -> None:
    """Which lab this is, and where its runs live."""
    st.caption(
        f"Agentic Inference Lab {labkit.__version__} · runs: `{runs_dir()}` · `LABKIT_RUNS` names another folder"
    )
