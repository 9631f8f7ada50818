"""What `--ray` refuses before it connects, and what it says goes where."""

from pathlib import Path

import pytest
from factorials import asked, saved

from labkit.cli import spread_view
from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.experiments.design import Design, blocks
from labkit.experiments.spread.engines import Attached, FleetOnNode
from labkit.experiments.spread.nodes import Node

NODES = (Node("one", "1"), Node("two", "2"), Node("three", "3"))


def design(repeats: int) -> Design:
    return Design(tuple(blocks([arm_named("base"), arm_named("prefix")], repeats, 1, True)), lambda _: ())


def test_an_engine_cannot_be_left_up_on_a_node(tmp_path: Path):
    question = asked(saved(tmp_path, "one"), "base", keep=True)
    with pytest.raises(BadInput, match="no --keep together with --ray"):
        spread_view.spread_factorial(question, address="auto", attached=[], as_json=False)


def test_each_node_gets_its_own_fleet_or_the_addresses_that_were_given():
    own = spread_view._recipe(asked((), "base", spec_method="ngram", strict=True), [])
    assert isinstance(own, FleetOnNode)
    assert (own.profile.name, own.spec_method, own.strict) == ("cpu-smollm2", "ngram", True)
    given = spread_view._recipe(asked((), "base"), ["base=http://127.0.0.1:1", "model=m"])
    assert isinstance(given, Attached)
    assert given("one").urls == given("two").urls == {"base": "http://127.0.0.1:1"}


@pytest.mark.parametrize(("repeats", "more"), [(3, ""), (1, "2 of them will have nothing to do: ask for --repeats 3.")])
def test_what_goes_where_is_said(repeats: int, more: str, capsys: pytest.CaptureFixture[str]):
    spread_view._announce(design(repeats), NODES, as_json=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{repeats} repeat{'s' * (repeats > 1)} of 2 arms over 3 nodes (one, two, three)" in said.err
    assert more in said.err
    assert ("nothing to do" in said.err) == bool(more)


def test_one_is_not_said_as_many(capsys: pytest.CaptureFixture[str]):
    alone = Design(tuple(blocks([arm_named("base")], 1, 1, True)), lambda _: ())
    spread_view._announce(alone, NODES[:1], as_json=True)
    assert capsys.readouterr().err == "1 repeat of 1 arm over 1 node (one), each repeat on one node.\n"
