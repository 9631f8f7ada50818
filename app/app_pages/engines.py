"""The engines of this machine: what is up and who uses it, what would be started, and what each process says."""

import streamlit as st

from widgets import engine_logs, engine_plans, fleet

VIEWS = {"fleet": "Fleet", "logs": "Logs", "plans": "Plans"}

view = st.segmented_control(
    "Show",
    list(VIEWS),
    key="view",
    default="fleet",
    required=True,
    format_func=VIEWS.__getitem__,
    label_visibility="collapsed",
    bind="query-params",
)
if view == "plans":
    engine_plans.plans()
elif view == "logs":
    engine_logs.logs()
else:
    fleet.fleet()
