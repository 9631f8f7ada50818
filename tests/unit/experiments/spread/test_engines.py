"""Engines of a node carry its name; what a killed driver left on the node is ended before anything is measured."""

from contextlib import nullcontext
from types import SimpleNamespace

from labkit.core.arms import arm_named
from labkit.core.errors import EngineBusy
from labkit.engines.profiles import load_profile
from labkit.experiments.serving import Served
from labkit.experiments.spread.engines import FleetOnNode, NamedProvider, end_left


class Left:
    """A fleet of three engines: one whose starter lives, one that was left, and one that was left and is in use."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def ps(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(id=name) for name in ("mine", "left", "busy")]

    def left(self, engine: SimpleNamespace) -> bool:
        return engine.id != "mine"

    def down(self, engine_id: str) -> list[SimpleNamespace]:
        if engine_id == "busy":
            raise EngineBusy("in use")
        self.ended.append(engine_id)
        return [SimpleNamespace(id=engine_id)]


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


def test_engines_whose_starter_is_gone_are_ended_and_others_are_not():
    fleet = Left()
    assert end_left(fleet) == ["left"]
    assert fleet.ended == ["left"]


def test_nodes_with_one_home_have_a_fleet_each(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path))
    recipe = FleetOnNode(load_profile("cpu-smollm2"))
    places = {recipe(node)._fleet.state_dir for node in ("one", "two")}
    assert places == {tmp_path / "nodes" / "one", tmp_path / "nodes" / "two"}
