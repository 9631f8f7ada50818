"""Real engines for tests, in a fleet of their own: a user's engines and registry are not touched.

An engine that is up is shared by every test of the session that asks for the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.engines import weights
from labkit.engines.fleet import Fleet
from labkit.engines.machine import usable_cores
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import load_profile


@pytest.fixture(scope="session")
def model_path() -> str:
    """The default model's folder; fetched and converted the first time (about 20 s)."""
    return str(weights.fetch())


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """An empty fleet; whatever is up at the end of the session is ended."""
    fleet = Fleet(tmp_path_factory.mktemp("state"))
    yield fleet
    fleet.down()


class Planner:
    """Plans of the default profile with the fetched model on this machine's cores."""

    def __init__(self, model_path: str) -> None:
        self._model_path = model_path
        self.profile = load_profile("cpu-smollm2")

    def __call__(self, arm: str, *, spec_method: str | None = None, salted: bool = False) -> Plan:
        return make_plan(
            self.profile,
            arm_named(arm),
            spec_method=spec_method,
            salted=salted,
            model_path=self._model_path,
            cores=usable_cores(),
        )


@pytest.fixture(scope="session")
def plan_for(model_path: str) -> Planner:
    """`plan_for("prefix+spec")`."""
    return Planner(model_path)


def log_of(fleet: Fleet, engine_id: str, role: str) -> Path:
    """Where that process wrote."""
    return fleet.state_dir / "engines" / engine_id / f"{role}.log"
