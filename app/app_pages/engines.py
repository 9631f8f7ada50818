"""The engines of this machine: what is up and who uses it, what would be started, and what each process says."""

import streamlit as st

from widgets import engine_logs, engine_plans, fleet

VIEWS = {"Fleet": fleet.fleet, "Logs": engine_logs.logs, "Plans": engine_plans.plans}

view = st.segmented_control(
    "Show", list(VIEWS), key="view", default="Fleet", required=True, label_visibility="collapsed", bind="query-params"
)
VIEWS[view]()
