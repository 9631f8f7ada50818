"""What the Compare page reads, each worked out once for each state of its run."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from labkit.experiments.dashboard.compare import claimed, compare, doubts, two_runs
from labkit.experiments.dashboard.compare import curves as compare_curves
from labkit.experiments.dashboard.compare.two_runs import TwoRuns
from labkit.experiments.dashboard.opened import Opened
from labkit.store.claims import load_claims

from loaders import opened, per_run

scope = per_run(compare.scope)
gains = per_run(compare.gains)
curves = per_run(compare_curves.curves)
growth = per_run(compare_curves.growth)
limits = per_run(doubts.doubts)


def two(run_id: str, other: str) -> TwoRuns:
    """Run `other` against run `run_id`. Raises as `opened` does."""
    a, b = opened(run_id), opened(other)
    return _two(_state(a), _state(b), _a=a, _b=b)


def _state(run: Opened) -> str:
    """What tells a run's state from its others, and from that of other runs."""
    return f"{run.run.folder} {run.info.state} {run.version}"


@st.cache_data(max_entries=20, show_spinner="Pairing the requests of both runs")
def _two(a: str, b: str, *, _a: Opened, _b: Opened) -> TwoRuns:
    return two_runs.two_runs(_a, _b)


@st.cache_data(ttl="600s", max_entries=1)
def claims() -> pd.DataFrame:
    """What others published on gains."""
    return claimed.gains_claimed(load_claims())
