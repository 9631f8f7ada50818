"""Where every page gets its data: the only package that caches, so that staleness has one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import list_profiles
from labkit.experiments import live as live_runs
from labkit.experiments import warm
from labkit.experiments.arm_state import ArmState, arm_states
from labkit.experiments.catalogue import QUICK_RECORDING
from labkit.experiments.dashboard import picker
from labkit.experiments.dashboard.opened import Followed, Opened
from labkit.experiments.jobs import JobStatus
from labkit.experiments.refusals import newest_of, refused_arms
from labkit.experiments.view import RunView
from labkit.store.layout import Owner
from labkit.store.listing import Listing
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


def holders() -> list[str]:
    """Who holds an engine now, as they named themselves; empty when all are free."""
    fleet = Fleet()
    return [owner for engine in fleet.ps() if (owner := fleet.holder(engine))]


def refused(profile: str, arms: tuple[str, ...]) -> dict[str, str]:
    """Arms whose engine the newest run of this profile could not have, with the engine's words."""
    newest = newest_of(profile, [seen.info for seen in listing().newest()])
    return refused_arms(Fleet(), profile, arms, run_view(newest) if newest else None)


def current_job() -> JobStatus | None:
    """The job that goes on, the newest if several do, else the one that was started last; not cached: it is polled."""
    return live_runs.active_job() or live_runs.newest_job()


def newest_run() -> str | None:
    """Id of the run that was begun last."""
    return next((seen.info.id for seen in listing().newest()), None)


def run_labels() -> dict[str, str]:
    """Name to label of the newest runs, newest first, then the examples; read anew, since states change."""
    return picker.choices(listing()).labels


def choices(wanted: str | None) -> picker.Choices:
    """The runs to choose from, and the one to begin with: `wanted`, or the newest."""
    return picker.choices(listing(), wanted, states=True)


def run_view(run_id: str) -> RunView:
    """A run as it is now; shared by all who look, so nobody changes what it returns. Raises as `opened` does."""
    return opened(run_id).view


@st.cache_resource(max_entries=4, show_spinner=False)
def _listing(root: str) -> Listing:
    return Listing(RunStore(Path(root)))


def listing() -> Listing:
    """What is in the store; a folder is read again when it has changed."""
    return _listing(str(RunStore().root))


@st.cache_resource(max_entries=8, show_spinner="Reading the run")
def _ended(root: str, name: str, version: int) -> Opened:
    """`root` and `version` only tell apart runs of different stores, and a run from what it became."""
    return Opened(RunStore(Path(root)).open(name))


@st.cache_resource(max_entries=8, show_spinner="Reading the run")
def _followed(root: str, name: str, writer: Owner | None) -> Followed:
    """`writer`: another one when the run is resumed, and then it is followed anew."""
    return Followed(RunStore(Path(root)).open(name))


def opened(run_id: str) -> Opened:
    """The run, held open: shared by all pages and tabs, so nobody changes what it returns. A live one is followed.

    Raises RunUnreadable and UnknownName.
    """
    seen, root = listing().one(run_id), str(RunStore().root)
    return _followed(root, seen.name, seen.writer).now() if seen.live else _ended(root, seen.name, seen.version)


def per_run(work: Callable[Concatenate[Opened, P], T]) -> Callable[Concatenate[str, P], T]:
    """`work(opened, ...)` as a function of the run's id, worked out once for each state of the run and arguments.

    What it returns is kept as a copy: it must pickle, and be small.
    """
    name = f"{work.__module__}.{work.__qualname__}"

    def of_run(run_id: str, *args: P.args, **kwargs: P.kwargs) -> T:
        run = opened(run_id)
        return _worked_out(name, f"{run.run.folder} {run.info.state}", run.version, args, kwargs, _run=run, _work=work)

    return of_run


@st.cache_data(max_entries=200, show_spinner="Working it out")
def _worked_out(
    name: str, folder: str, version: int, args: tuple[Any, ...], kwargs: dict[str, Any], *, _run: Opened, _work: Any
) -> Any:
    """`name`, `folder` and `version` only tell calls apart; what begins with `_` is not looked at for that."""
    return _work(_run, *args, **kwargs)
