"""What the page Capacity and cost is made of. A run's chunks are gone through once, whatever is asked afterwards."""

from __future__ import annotations

import streamlit as st
from labkit.analysis.served import Served
from labkit.analysis.slo import Slo
from labkit.experiments.dashboard.money import capacity, costs, prices
from labkit.experiments.dashboard.money.capacity import CapacityView

import loaders

served = loaders.per_run(capacity.served_of)
costed = loaders.per_run(costs.costed)
choices = st.cache_data(prices.choices, ttl="10s", max_entries=20)
inputs = st.cache_data(prices.inputs, ttl="10s", max_entries=20)


def answered(run_id: str, ttft: float, itl: float, share: float, tpot: float | None) -> CapacityView | None:
    """How many agents keep this objective (seconds, a share of 1); None without a level of load."""
    run, load = loaders.opened(run_id), served(run_id)
    return None if load is None else _answered(str(run.run.folder), run.version, ttft, itl, share, tpot, load)


@st.cache_data(max_entries=200, show_spinner=False)
def _answered(
    folder: str, version: int, ttft: float, itl: float, share: float, tpot: float | None, _load: Served
) -> CapacityView:
    """`folder` and `version` stand for the load, which is not looked at."""
    return capacity.answered(_load, Slo(ttft_s=ttft, itl_s=itl, share=share, tpot_s=tpot))
