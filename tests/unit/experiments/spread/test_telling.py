"""How far all nodes are together, and what befell each arm over them."""

from pathlib import Path

from labkit.core.arms import arm_named
from labkit.core.clock import FakeClock
from labkit.core.progress import Progress
from labkit.experiments.design import Design, blocks
from labkit.experiments.spread.tallied import Sum
from labkit.experiments.spread.telling import Telling
from labkit.experiments.spread.units import units
from labkit.experiments.verdict import Tally, verdict
from labkit.store.runs import RunStore


class FivePasses:
    count = 5


def made() -> Design:
    return Design(tuple(blocks([arm_named("base"), arm_named("prefix")], 4, 1)), lambda _: (FivePasses,))


def said(done: float, eta: float, stage: str = "measuring base") -> dict:
    return {"stage": stage, "message": "turn 1", "done": done, "total": 10.0, "eta_s": eta}


def test_steps_and_time_left_are_of_all_nodes(tmp_path: Path):
    heard: list[Progress] = []
    first, second, *_ = all_of = units(made())
    with RunStore(tmp_path, FakeClock()).create("factorial", {}, {}) as writer:
        telling = Telling(writer, made(), all_of, heard.append)
        telling.began("a", first)
        assert (heard[-1].done, heard[-1].total, heard[-1].eta_s) == (0, 40, None)
        telling.heard("a", first, said(0, 100.0))
        telling.began("b", second)
        telling.heard("b", second, said(4, 60.0))
        assert (heard[-1].done, heard[-1].stage) == (4, "b: measuring base: turn 1")
        assert heard[-1].message == "a: measuring base: turn 1"
        assert heard[-1].eta_s == 100 + 100  # two more repeats, one for each node
        telling.began("a", second)  # b was lost: what it had done of the repeat is done again
        assert heard[-1].done == 0


def test_tallies_are_added_and_refusals_name_their_node_once():
    first, second, *_ = units(made())
    total = Sum()
    refused = {"prefix": "no memory", "other": "of an earlier repeat"}
    total.add("a", first, Tally(measured={"base": 3, "prefix": 3}, disturbed={"base": 0.5}))
    for unit in (second, second):
        total.add("b", unit, Tally(measured={"base": 2}, refused=refused, disturbed={"base": 0.3}, remarks=["x"]))
    assert total.total.measured == {"base": 7, "prefix": 3}
    assert total.total.refused == {"prefix": "on b: no memory"}
    assert total.total.disturbed == {"base": 0.5}
    assert total.total.remarks == ["b: x", "b: x"]


def test_a_repeat_that_nobody_measured_makes_the_run_partial_and_is_named():
    first, second, *_ = units(made())
    total = Sum()
    total.add("a", first, Tally(measured={"base": 3, "prefix": 3}))
    total.given_up({1: (second, "b was lost")})
    state, note = verdict(["base", "prefix"], total.total)
    assert state == "partial"
    assert f"ended early: {second.named} was not measured: b was lost" in note
