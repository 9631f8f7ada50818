"""The order that a run had is the one that its report says, whatever else its seed is of."""

import pytest

from labkit.experiments.asked import Asked
from labkit.experiments.capacity_asked import CapacityAsked
from labkit.experiments.factorial import FactorialAsked
from labkit.experiments.interference import InterferenceAsked
from labkit.experiments.order import order_seed
from labkit.experiments.steps import StepsAsked

P = "cpu-smollm2"
TWO = ("base", "prefix")


@pytest.mark.parametrize(
    ("name", "asked", "seed"),
    [
        ("interference", InterferenceAsked(profile=P), None),
        ("interference", InterferenceAsked(profile=P, repeats=2, seed=5), 5),
        ("capacity", CapacityAsked(profile=P), None),
        ("capacity", CapacityAsked(profile=P, repeats=3, seed=5), None),
        ("steps", StepsAsked(profile=P), None),
        ("steps", StepsAsked(profile=P, seed=3), 3),
        ("factorial", FactorialAsked(profile=P, seed=0), 0),
        ("replay", Asked(profile=P, recording="night-shifts", arms=TWO), None),
        ("replay", Asked(profile=P, recording="night-shifts", arms=TWO, seed=9), 9),
    ],
)
def test_the_seed_of_the_order_is_that_of_the_order(name, asked, seed):
    assert order_seed(name, asked.to_dict()) == seed
    said = asked.in_words()
    assert ("fixed order" in said) == (seed is None)
    assert (f"block-randomised order (seed {seed})" in said) == (seed is not None)
    if name not in ("replay",):
        assert asked.design().fresh_starts == (seed is not None)


def test_an_agents_seed_is_of_its_sampling_and_an_unknown_experiment_has_what_it_says():
    assert order_seed("agent", {"seed": 3}) is None
    assert order_seed("theirs", {"seed": 3}) == 3
    assert order_seed("theirs", {}) is None


def test_a_fixed_order_is_the_order_of_shared_engines():
    design = InterferenceAsked(profile=P, arms=("prefix+pd", "prefix"), seed=1).design()
    assert [block.label for block in design.blocks] == ["prefix", "prefix+pd"]
