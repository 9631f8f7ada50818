"""Where every page gets its data: the only package that caches, so that staleness has one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import list_profiles
from labkit.experiments import live, warm
from labkit.experiments.arm_state import ArmState, arm_states
from labkit.experiments.catalogue import QUICK_RECORDING
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.jobs import JobStatus
from labkit.experiments.refusals import newest_of, refused_arms
from labkit.experiments.view import RunView, label, view
from labkit.store.runs import RunStore
from labkit.traffic.recording import list_recordings, named

P = ParamSpec("P")
T = TypeVar("T")

profiles = st.cache_data(list_profiles, ttl="60s", max_entries=1)


@st.cache_data(ttl="10s", max_entries=1)
def recordings() -> list[str]:
    """The recordings that come with the project, the one of the quick look first."""
    return sorted(list_recordings(), key=lambda name: name != QUICK_RECORDING)


@st.cache_data(ttl="60s", max_entries=50)
def turns_of(recording: str) -> int:
    """How many steps a recording has."""
    return len(named(recording).steps)


def states(profile: str, arms: tuple[str, ...], refused: dict[str, str]) -> list[ArmState]:
    """What the toggles' arms may say now. Not cached: a toggle never lies."""
    return arm_states(Fleet(), profile, arms, {**refused, **warm.failures(profile, arms)}, warming(profile, arms))


def warming(profile: str, arms: tuple[str, ...]) -> set[str]:
    """Arms whose engine is being started from a page."""
    return {arm for arm in arms if warm.is_warming(profile, arm)}


def any_engine() -> bool:
    """Whether there is an engine to end, or the remains of one."""
    return bool(Fleet().ps())


def holders() -> list[str]:
    """Who holds an engine now, as they named themselves; empty when all are free."""
    fleet = Fleet()
    return [owner for engine in fleet.ps() if (owner := fleet.holder(engine))]


def refused(profile: str, arms: tuple[str, ...]) -> dict[str, str]:
    """Arms whose engine the newest run of this profile could not have, with the engine's words."""
    newest = newest_of(profile, RunStore().list())
    return refused_arms(Fleet(), profile, arms, run_view(newest) if newest else None)


def newest_job() -> JobStatus | None:
    """The job that was started last; not cached: it is polled."""
    return live.newest_job()


def run_labels() -> dict[str, str]:
    """Id to label of the newest runs, newest first; read anew, since states change."""
    return {info.id: label(info) for info in RunStore().list()[:50]}


def run_view(run_id: str) -> RunView:
    """A run as it is now. Raises RunUnreadable and UnknownName. An ended one is read once, until it is resumed."""
    store = RunStore()
    run = store.open(run_id)
    return _live_view(run_id) if run.live else _ended_view(str(store.root), run_id, run.version)


def _live_view(run_id: str) -> RunView:
    return view(RunStore().open(run_id))


@st.cache_data(max_entries=20, show_spinner=False)
def _ended_view(root: str, run_id: str, version: int) -> RunView:
    """`root` and `version` only tell apart runs of different stores, and a run from what it became."""
    return view(RunStore().open(run_id))


@st.cache_resource(max_entries=4, show_spinner="Reading the run")
def _ended(root: str, run_id: str, version: int) -> Opened:
    return Opened(RunStore().open(run_id))


def opened(run_id: str) -> Opened:
    """The run, held open: shared by all pages and tabs, so nobody changes what it returns. A live one is read anew.

    Raises RunUnreadable and UnknownName.
    """
    store = RunStore()
    run = store.open(run_id)
    return Opened(run) if run.live else _ended(str(store.root), run.id, run.version)


def per_run(work: Callable[Concatenate[Opened, P], T]) -> Callable[Concatenate[str, P], T]:
    """`work(opened, ...)` as a function of the run's id, worked out once for each state of the run and arguments.

    What it returns is kept as a copy: it must pickle, and be small.
    """
    name = f"{work.__module__}.{work.__qualname__}"

    def of_run(run_id: str, *args: P.args, **kwargs: P.kwargs) -> T:
        run = opened(run_id)
        return _worked_out(name, str(run.run.folder), run.version, args, kwargs, _run=run, _work=work)

    return of_run


@st.cache_data(max_entries=200, show_spinner="Working it out")
def _worked_out(
    name: str, folder: str, version: int, args: tuple[Any, ...], kwargs: dict[str, Any], *, _run: Opened, _work: Any
) -> Any:
    """`name`, `folder` and `version` only tell calls apart; what begins with `_` is not looked at for that."""
    return _work(_run, *args, **kwargs)
