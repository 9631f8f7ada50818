"""Engines of a node carry its name; what a killed driver left on the node is ended before anything is measured."""

import os
import signal
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import psutil
from spread_fakes import until

from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.process import ProcessState, end_group, group, is_alive, spawn
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine
from labkit.experiments.serving import Served
from labkit.experiments.spread.engines import FleetOnNode, NamedProvider, end_left


def begun(fleet: Fleet, log: Path, owner: ProcessState | None = None) -> ProcessState:
    """An engine whose leader has a child, registered with this owner, else with one that is gone; the leader."""
    plan = make_plan(load_profile("cpu-smollm2"), arm_named("base"), model_path="/nowhere", cores=(0,))
    leader = spawn(["sh", "-c", "sleep 60 & exec sleep 60"], dict(os.environ), log, role="engine")
    owner = owner or replace(leader, created=1.0)
    fleet._registry.write(Engine(id=log.stem, plan=plan, processes=(leader,), owner=owner))
    return leader


class Inner:
    """A provider that notes under which ids it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def serve(self, arm, on_progress=None, spec_method=None) -> Served:
        return Served(engine="e1", base_url="http://127.0.0.1:1", model="m", switched_by="flag", neighbours=("e0",))

    def locked(self, served: Served, owner: str):
        self.asked.append(served.engine)
        return nullcontext()

    def check(self, served: Served) -> None:
        self.asked.append(served.engine)

    async def close(self, *, keep: bool) -> list[str]:
        return ["e1"]


async def test_outside_an_engine_has_its_nodes_name_and_inside_its_own():
    inner = Inner()
    named = NamedProvider("node-1", inner)
    served = await named.serve(arm_named("base"))
    assert (served.engine, served.neighbours) == ("node-1/e1", ("node-1/e0",))
    with named.locked(served, "run"):
        named.check(served)
    assert inner.asked == ["e1", "e1"]
    assert await named.close(keep=False) == ["node-1/e1"]


async def test_what_a_killed_driver_left_half_gone_is_ended_whole_and_what_has_its_starter_is_not(tmp_path: Path):
    """Ray ends the leader with the worker, and not what the leader had started."""
    fleet = Fleet(tmp_path / "state")
    here = psutil.Process()
    kept = begun(fleet, tmp_path / "kept.log", ProcessState(pid=here.pid, created=here.create_time(), role="", log=""))
    left = begun(fleet, tmp_path / "left.log")
    try:
        await until(lambda: len(group(left)) == 2)
        os.kill(left.pid, signal.SIGKILL)
        await until(lambda: not is_alive(left))
        assert len(group(left)) == 1
        assert end_left(fleet) == ["left"]
        assert group(left) == []
        assert is_alive(kept)
    finally:
        end_group(kept)


def test_nodes_with_one_home_have_a_fleet_each(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path))
    recipe = FleetOnNode(load_profile("cpu-smollm2"))
    places = {recipe(node)._fleet.state_dir for node in ("one", "two")}
    assert places == {tmp_path / "nodes" / "one", tmp_path / "nodes" / "two"}
