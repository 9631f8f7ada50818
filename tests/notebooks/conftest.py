"""Where notebooks run in tests: a store and a fleet of the tests' own, and for the real engine one that is warm."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.engines import weights
from labkit.engines.fleet import Fleet
from labkit.engines.machine import usable_cores
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile


@pytest.fixture(scope="session")
def warm_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The registry of a fleet with the engine of `prefix` up, as after `labkit up --arm prefix`: notebooks share it."""
    weights.fetch()
    fleet = Fleet(tmp_path_factory.mktemp("notebooks") / "state")
    plan = make_plan(load_profile("cpu-smollm2"), arm_named("prefix"), salted=True, cores=usable_cores())
    asyncio.run(fleet.up(plan))
    yield fleet.state_dir
    fleet.down()


@pytest.fixture
def real(tmp_path: Path, warm_state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real engine, warm in the arm `prefix`, and a store of this test's own; the folder to run in."""
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(warm_state))
    return tmp_path


@pytest.fixture
def no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty store, and a registry in which no engine may have appeared by the end; the folder to run in."""
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    yield tmp_path
    assert not list((tmp_path / "state").rglob("*.log")), "an engine was started"
    assert not (tmp_path / "runs").exists(), "something was measured"
