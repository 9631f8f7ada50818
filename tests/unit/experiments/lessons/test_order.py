"""An order of switching on: that of planted gains, none where nothing can be told, and what a confirmation takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import frame_of
from planted import ALL, GAINS, planted, seconds

from labkit.analysis.effects import arm_gains
from labkit.core.arms import BASE, LAYERS, arm_named
from labkit.core.errors import BadInput
from labkit.core.records import ChunkRecord
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.lessons.confirming import attempts_in_words, confirmed, pairs_needed
from labkit.experiments.lessons.edges import corners, edges, in_words, with_layer
from labkit.experiments.lessons.order import in_words as order_in_words
from labkit.experiments.lessons.order import order_of
from labkit.store.runs import RunStore

NONE = frame_of([], ChunkRecord)


def ordered(steps):
    return order_of(edges(steps), arm_gains(steps, NONE))


def greedy(gains) -> list[str]:
    """The arms on the way of the largest gains, from the planted seconds themselves."""
    at, way = BASE, []
    while True:
        nexts = [with_layer(at, layer) for layer in LAYERS if layer not in at.layers]
        best = min(nexts, key=lambda arm: seconds(arm.label, gains), default=None)
        if best is None or seconds(best.label, gains) >= seconds(at.label, gains):
            return way
        at = best
        way.append(at.label)


def test_the_cube_has_twelve_edges_with_the_planted_gains():
    table = edges(frame_of(planted()))
    assert len(table) == 12
    for row in table.to_dict("records"):
        assert row["gain"] == pytest.approx(seconds(row["start"]) / seconds(row["end"]))
        assert len(arm_named(row["end"]).layers) == len(arm_named(row["start"]).layers) + 1
    assert set(in_words(table)["verdict"]) == {"better", "worse"}
    assert corners()["arm"].tolist() == list(ALL)


def test_edges_are_corrected_together():
    """Twelve edges: the smallest p is multiplied by twelve."""
    dice = np.random.default_rng(3)
    table = edges(frame_of(planted(noise=lambda: dice.normal(0, 0.1))))
    smallest = table.loc[table["p"].idxmin()]
    assert smallest["p_holm"] == pytest.approx(min(1.0, 12 * smallest["p"]))


MORE = {**GAINS, "speculation": 3.0}
FLAT = {**dict.fromkeys(GAINS, 1.0), "prefix_caching": 0.7, "pd_split": 0.8, "speculation": 0.9}


@pytest.mark.parametrize("gains", [GAINS, MORE, FLAT])
def test_the_order_follows_the_largest_clear_gain(gains):
    found = ordered(frame_of(planted(gains=gains)))
    assert [row["end"] for row in found.way] == greedy(gains)
    assert found.arm == ([BASE.label, *greedy(gains)])[-1]


def test_the_order_is_said_with_its_reasons():
    gains = {**dict.fromkeys(GAINS, 1.0), "prefix_caching": 2.0, "speculation": 1.25, "pd_split": 0.5}
    said = order_in_words(ordered(frame_of(planted(gains=gains)))).splitlines()
    assert said[0].startswith("1. Switch on **prefix caching**")
    assert "answers came 2.00 times as fast" in said[0]
    assert said[1].startswith("2. Switch on **speculation** after prefix: answers came 1.25 times as fast")
    assert said[-1].startswith("- Leave splitting prefill from decode off after prefix+spec: answers took 2.00 times")


def test_one_repeat_gives_no_order_and_says_why():
    found = ordered(frame_of(planted(repeats=1)))
    assert (found.way, found.arm) == ((), "base")
    said = order_in_words(found)
    assert "Cannot tell an order" in said
    assert said.count("too few to tell") == 3
    assert "each request was sent once" in said


def test_layers_that_pay_only_together_are_said_to_be():
    """Alone each loses 2 %; together they gain 1.44 times."""
    gains = {"prefix_caching": 1.2, "speculation": 1.2, "prefix_caching:speculation": 1.5}
    found = ordered(frame_of(planted(arms=("base", "prefix", "spec", "prefix+spec"), gains=gains)))
    assert (found.way, found.arm) == ((), "prefix+spec")
    said = order_in_words(found)
    assert said.startswith("Switch on **prefix caching and speculation together**: answers came 1.44 times as fast")
    assert "Splitting prefill from decode was not measured" in said


def test_it_takes_so_many_pairs_even_when_the_arms_never_disagree():
    """Tango's interval without a discordant pair ends at z² / (n + z²)."""
    z2 = 1.959964**2
    for margin in (0.2, 0.1, 0.05):
        assert pairs_needed(margin) == math.floor(z2 * (1 - margin) / margin) + 1
    with pytest.raises(BadInput):
        pairs_needed(0.0001)


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path)


def confirm(store: RunStore, base: list[bool], arm: list[bool], margin: float = 0.5):
    asked = ConfirmAsked(profile="cpu-smollm2", arm="prefix", margin=margin)
    facts = {"stop_reason": "finished", "steps": 3, "seconds": 10.0}
    with store.create("confirm", asked.to_dict(), {}) as writer:
        for label, outcomes in (("base", base), ("prefix", arm)):
            for n, reached in enumerate(outcomes):
                writer.event("outcome", arm=label, task="t", attempt=n, reached=reached, **facts)
    return store.open(writer.id)


def test_a_confirmation_says_whether_it_holds(store):
    alike = confirmed(confirm(store, [True] * 20, [True] * 20))
    assert alike.holds
    assert "n 20 pairs of attempts" in alike.saw
    assert confirmed(confirm(store, [True] * 20, [False] * 20)).holds is False
    nothing = confirmed(confirm(store, [False] * 4, [False] * 4))
    assert nothing.holds is None
    assert "neither arm solved anything" in nothing.saw


def test_attempts_that_solved_nothing_have_a_dash(store):
    table = attempts_in_words(confirm(store, [True, False], [False, False])).set_index("arm")
    assert table.loc["base", "solved"] == "1 of 2"
    assert table.loc["base", "time per solved task"] == "20.0 s"
    assert table.loc["prefix", "time per solved task"] == "–"
