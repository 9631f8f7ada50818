"""What the Engines page shows. Nothing of the fleet is cached but the last CPU times: a page never lies about it."""

from __future__ import annotations

import streamlit as st
from labkit.engines.fleet import Fleet
from labkit.experiments.arm_state import ArmState
from labkit.experiments.dashboard.engines import plans as engine_plans
from labkit.experiments.dashboard.engines.cards import FleetView
from labkit.experiments.dashboard.engines.fleet import fleet_view
from labkit.experiments.dashboard.engines.load import Loads
from labkit.experiments.dashboard.engines.logs import Level, LogSource, LogView, log_sources, log_view, refused_start
from labkit.experiments.dashboard.engines.memory import memory_of, room_for
from labkit.plots.engine_memory import EngineMemoryInfo

import loaders

loads = st.cache_resource(Loads)
plan = st.cache_data(engine_plans.plan_view, max_entries=50, ttl="60s", show_spinner=False)
difference = st.cache_data(engine_plans.diff_view, max_entries=50, ttl="60s", show_spinner=False)
methods = st.cache_data(engine_plans.methods_of, max_entries=20, ttl="60s", show_spinner=False)
refused_log = refused_start


def fleet() -> FleetView:
    """The fleet now."""
    return fleet_view(Fleet(), loaders.profiles(), loads())


def memory(profile: str, view: FleetView) -> EngineMemoryInfo:
    """The machine's memory now, and what the engines of the profile would take."""
    return memory_of(Fleet(), profile, view.cards)


def room(profile: str, arm: str) -> str:
    """Why the arm's engine does not fit now; empty when it does."""
    return room_for(Fleet(), profile, arm)


def state(profile: str, arm: str) -> ArmState:
    """The state of one arm, as its toggle would say it."""
    return loaders.states(profile, (arm,), {})[0]


def logs() -> dict[str, LogSource]:
    """Whose logs there are."""
    return log_sources(Fleet())


def log(path: str, lines: int, levels: tuple[Level, ...]) -> LogView:
    """The end of a log now."""
    return log_view(path, lines, levels)
