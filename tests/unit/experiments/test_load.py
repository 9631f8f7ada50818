"""What a load is: who starts when with what, how a search goes, and which loads cannot be made."""

from __future__ import annotations

import pytest
from synthetic import recording

from labkit.core.errors import BadInput
from labkit.experiments.capacity_asked import CapacityAsked, next_level, probes_at_most
from labkit.experiments.interference import InterferenceAsked
from labkit.experiments.load import LoadPass, agent_id, levels_of

TWO = (recording("a"), recording("b"))


def test_recordings_go_round_and_every_life_has_its_own_name():
    load = LoadPass(recordings=TWO, agents=3)
    assert [load.recording_of(agent, 0).header.name for agent in range(3)] == ["a", "b", "a"]
    assert [load.recording_of(0, life).header.name for life in range(3)] == ["a", "b", "a"]
    assert [agent_id(2, life) for life in range(3)] == ["2", "2.1", "2.2"]


def test_agents_begin_at_moments_that_the_seed_draws_and_not_in_step():
    offsets = LoadPass(recordings=TWO, agents=5, stagger_s=2.0, seed=1).offsets()
    assert offsets[0] == 0.0
    assert offsets == tuple(sorted(offsets))
    assert len(set(offsets)) == 5
    assert all(0 <= offset <= 2.0 for offset in offsets)
    assert offsets == LoadPass(recordings=TWO, agents=5, stagger_s=2.0, seed=1).offsets()
    assert offsets != LoadPass(recordings=TWO, agents=5, stagger_s=2.0, seed=2).offsets()
    assert offsets != LoadPass(recordings=TWO, agents=5, stagger_s=2.0, seed=1, number=1).offsets()


@pytest.mark.parametrize(
    ("field", "value"), [("recordings", ()), ("agents", 0), ("agents", 10_000), ("window_s", 0.0), ("stagger_s", -1.0)]
)
def test_a_load_that_cannot_be_made(field: str, value: object):
    with pytest.raises(BadInput, match=field):
        LoadPass(**{"recordings": TWO, field: value})


@pytest.mark.parametrize("text", ["", "0", "two", "1,1", "-1"])
def test_levels_that_make_no_sense(text: str):
    with pytest.raises(BadInput, match="agents"):
        levels_of(text)


def test_levels_are_measured_in_rising_order():
    assert levels_of("4, 1,2") == (1, 2, 4)


def test_interference_needs_one_agent_alone():
    with pytest.raises(BadInput, match="one agent alone"):
        InterferenceAsked(profile="p", agents=(2, 4)).design()


def _levels_probed(capacity: int, most: int) -> list[int]:
    holds: dict[int, bool] = {}
    while (level := next_level(holds, most)) is not None:
        holds[level] = level <= capacity
    return list(holds)


@pytest.mark.parametrize(
    ("capacity", "most", "probed"),
    [
        (0, 8, [1]),
        (1, 8, [1, 2]),
        (3, 8, [1, 2, 4, 3]),
        (5, 8, [1, 2, 4, 8, 6, 5]),
        (8, 8, [1, 2, 4, 8]),
        (6, 6, [1, 2, 4, 6]),
        (1, 1, [1]),
    ],
)
def test_a_search_doubles_then_halves(capacity: int, most: int, probed: list[int]):
    assert _levels_probed(capacity, most) == probed


@pytest.mark.parametrize("most", [1, 2, 7, 8, 33])
def test_a_search_ends_beside_the_truth_and_is_no_longer_than_was_said(most: int):
    for capacity in range(most + 1):
        probed = _levels_probed(capacity, most)
        assert len(probed) <= probes_at_most(most)
        assert capacity == 0 or capacity in probed
        assert capacity == most or capacity + 1 in probed


def test_an_objective_that_makes_no_sense():
    for wrong in ({"ttft": 0.0}, {"itl": -1.0}, {"share": 1.0}, {"max_agents": 0}):
        with pytest.raises(BadInput):
            CapacityAsked(profile="p", **wrong).design()
