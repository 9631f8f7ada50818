"""Counters of a repeat whose node was lost: in no sum, whoever reads them."""

from typing import Any

import pytest
from builders import a_step, frame_of

from labkit.analysis.counter_events import counters, without_void
from labkit.analysis.draft_positions import position_table
from labkit.analysis.prefill_rate import PrefillRate, prefill_rates
from labkit.core.conditions import of_method
from labkit.experiments.cold import evidence
from labkit.experiments.dashboard.layers.drafts import draft_counters
from labkit.experiments.dashboard.layers.transfers import moved

GROWTH = {"transfers": 4, "prompt_computed": 900, "prefill_s": 3.0, "requests": 4, "drafts": 10,
          "accepted_per_position": [7]}  # fmt: skip


def grown(node: str, repeat: int, type: str = "counters", **more: Any) -> dict[str, Any]:
    about = {"arm": "base", "condition": of_method("ngram"), "cache": "cold", "engine": f"{node}/e", "t": 1.0}
    return {"type": type, "node": node, "repeat": repeat, **about, "processes": {"engine": {"growth": GROWTH}}, **more}


def void(node: str, repeat: int) -> dict[str, Any]:
    return {"type": "void", "t": 2.0, "arm": "base", "t_from": 0.0, "t_to": 2.0, "node": node, "repeat": repeat}


LOST = [grown("n1", 0), grown("n2", 1), void("n2", 1), grown("n1", 1)]
"""Repeat 1 began on n2, which was lost, and was measured on n1."""
STEPS = frame_of([a_step(repeat=n, engine="n1/e", condition=of_method("ngram")) for n in (0, 1)])


def test_only_the_counters_of_that_node_and_that_repeat_are_dropped():
    assert counters([*LOST, grown("n2", 0)]) == [LOST[0], LOST[3], grown("n2", 0)]
    assert [each["type"] for each in without_void(LOST)] == ["counters", "void", "counters"]


def test_a_pass_that_was_cut_short_on_one_machine_drops_nothing():
    """The event is written at a pass's end: one that broke off has none, and its repeat has others."""
    alone = [grown("n1", 0), void("n1", 0)]
    for event in alone:
        del event["node"]
    assert counters(alone) == alone[:1]


def test_no_reader_sums_a_lost_repeat():
    assert moved(LOST, STEPS, "base").transfers == 8
    assert len(draft_counters(LOST, STEPS, "base", None, "ngram")) == 2
    assert position_table(counters(LOST))["drafts"].tolist() == [20]
    spans = frame_of([a_step()])[["arm"]].assign(agents=1, condition=of_method("ngram"))
    assert prefill_rates(STEPS, LOST, spans) == {"base": PrefillRate(1800, 6.0, 8)}


@pytest.mark.parametrize(("lost", "state"), [(True, "confirmed"), (False, "unconfirmed")])
def test_what_a_lost_engine_had_served_says_nothing_of_the_one_that_measured(lost: bool, state: str):
    used, fresh = ({"engine": {"prefix_hits": hits, "requests": hits}} for hits in (5, 0))
    first = [grown("n2", 1, "first_counters", processes=used), grown("n1", 1, "first_counters", processes=fresh)]
    (found,) = evidence(frame_of([a_step(repeat=1, engine="n1/e")]), [first[0], *[void("n2", 1)] * lost, first[1]])
    assert found.state == state
