"""Layers together: pairs that are none, shares of base with known answers, savings that add and gains that multiply."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import a_step, frame_of
from planted import ALL, planted, seconds

from labkit.analysis.arms import arm_table
from labkit.analysis.effects import Gains, arm_gains, effects
from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.core.records import ChunkRecord
from labkit.experiments.lessons import amdahl, fewer, pairing, together
from labkit.experiments.lessons.expected import as_expected, row_of
from labkit.plots.forest import forest_figure
from labkit.plots.theme import FAINT

NONE = frame_of([], ChunkRecord)
LAYERS = ("prefix_caching", "speculation")
TIMES = {"base": (4.0, 6.0), "prefix": (1.0, 6.0), "spec": (4.0, 3.0), "prefix+spec": (1.0, 3.0)}
"""Seconds before and after the first token: each layer takes its own away."""


def request(arm: str, first: float, rest: float, **values: object):
    end = first + rest
    told = {"prompt_tokens": 1000, "cached_tokens": 0, "ceiling_tokens": 500, "completion_tokens": 20}
    times = {"t_send": 0.0, "t_first_token": first, "t_last": end, "t_end": end}
    return a_step(arm=arm, **{**told, **times, **values})


def run(times=TIMES, tasks: int = 5, repeats: int = 2):
    """Every arm at these tasks; a longer one for each."""
    return frame_of(
        [
            request(arm, first * (1 + n), rest * (1 + n), task=f"t{n}", repeat=repeat)
            for arm, (first, rest) in times.items()
            for n in range(tasks)
            for repeat in range(repeats)
        ]
    )


def layer_gains(steps) -> Gains:
    return Gains(effects(steps, NONE), arm_gains(steps, NONE))


def test_the_same_requests_are_told_from_others():
    table = pairing.pairing(run())
    assert table["also sent to base"].tolist() == table["prompt as long as there"].tolist() == [10] * 4
    holds, saw = pairing.all_paired(table)
    assert holds
    assert "40 of the 40 requests of 4 arms" in saw
    other = frame_of([request("base", 4, 6), request("prefix", 1, 6, prompt_tokens=999)])
    holds, saw = pairing.all_paired(pairing.pairing(other))
    assert holds is False
    assert "1 of the 2 requests" in saw


def test_which_arms_split_is_said():
    assert pairing.split_in_words(run()).startswith("No arm of this run splits")
    split = frame_of(planted(arms=("base", "pd", "all")))
    assert pairing.split_in_words(split) == "2 arms of this run split prefill from decode: pd and all."


def test_a_layer_gains_at_most_what_its_share_of_base_allows():
    """10 s: 4 before the first token, of which half the prompt was seen before; 6 after it."""
    found = amdahl.owned(run(tasks=1, repeats=1))
    assert (found.prefill_s, found.decode_s, found.ceiling, found.split) == (4.0, 6.0, 0.5, False)
    most = {arm: found.at_most(arm_named(arm)) for arm in ("prefix", "spec", "prefix+spec")}
    assert most == pytest.approx({"prefix": 10 / 8, "spec": 10 / 4, "prefix+spec": 10 / 2})
    assert found.at_most(arm_named("all")) is None
    assert found.table()["share"].tolist() == ["40 %", "60 %", "0 %"]


def test_the_engines_own_times_are_taken_where_it_told_them():
    found = amdahl.owned(frame_of([request("base", 4, 6, prefill_s=3.0, decode_s=6.0)]))
    assert (found.prefill_s, found.decode_s, found.split) == (3.0, 6.0, True)
    assert found.other_s == pytest.approx(1.0)


def test_without_base_there_is_no_share():
    with pytest.raises(BadInput, match="base among them"):
        amdahl.owned(frame_of([request("prefix", 1, 6)]))


def test_an_arm_beyond_its_limit_is_a_surprise():
    steps = run()
    holds, saw = amdahl.within_limits(amdahl.owned(steps), arm_table(steps, NONE))
    assert holds is False  # half of the prompt was seen before, and three quarters of prefill are gone
    assert "prefix passed its limit by most: 1.43x of at most 1.25x (n = 10 pairs)" in saw
    slow = run({**TIMES, "prefix": (3.0, 6.0), "prefix+spec": (3.0, 3.0)})
    holds, saw = amdahl.within_limits(amdahl.owned(slow), arm_table(slow, NONE))
    assert holds
    assert "came nearest to its limit" in saw
    assert amdahl.checked(amdahl.owned(slow), arm_table(slow, NONE)) == f"**Checked:** {saw}."
    assert amdahl.checked(amdahl.owned(steps), arm_table(steps, NONE)).startswith("**The check fails:** prefix passed")
    none = slow[slow["arm"] == "base"]
    assert amdahl.checked(amdahl.owned(none), arm_table(none, NONE)).startswith("**Not checked:** no arm without")
    limits = amdahl.limits(amdahl.owned(slow), arm_table(slow, NONE)).set_index("arm")
    assert limits.loc["spec"].to_dict() == {"at most": "2.50x", "measured": "1.43x", "n": 10}


def test_savings_that_add_are_told_from_gains_that_multiply():
    table = together.together(run())
    (row,) = table.to_dict("records")
    whole = 2 * (1 + 2 + 3 + 4 + 5)
    assert row["measured"] == pytest.approx(4 * whole)
    assert row[together.ADDED] == pytest.approx(4 * whole)
    assert row[together.MULTIPLIED] == pytest.approx(7 * 7 / 10 * whole)
    assert (row["n"], row["n_tasks"], row["nearer_sum"]) == (10, 5, 5)
    assert together.savings_add(table, "prefix+spec").holds
    multiplied = together.together(run({**TIMES, "prefix+spec": (1.45, 3.45)}))
    assert together.savings_add(multiplied, "prefix+spec").holds is False
    assert together.in_words(table)["nearer to added savings"].tolist() == ["5 of 5 tasks"]


def test_few_tasks_and_tasks_that_disagree_tell_nothing():
    holds, saw = together.savings_add(together.together(run(tasks=4)), "prefix+spec")
    assert holds is None
    assert saw.endswith("in 4 of 4 tasks, and it takes 5")
    steps = run(tasks=6)
    late = (steps["arm"] == "prefix+spec") & steps["task"].isin(["t3", "t4", "t5"])
    steps.loc[late, "t_end"] += 100
    holds, saw = together.savings_add(together.together(steps), "prefix+spec")
    assert holds is None
    assert saw.endswith("3 of 6 tasks, so the tasks do not agree")
    assert together.savings_add(together.together(run({"base": (4, 6), "prefix": (1, 6)})), "all").holds is None


def test_an_interaction_is_held_against_the_product():
    found = together.more_than_product(run(), LAYERS)
    assert found.holds is True
    assert "prefix caching × speculation gave 1.2" in found.saw
    product = {**TIMES, "prefix+spec": (1.4, 3.5)}  # 4.9 s: 7 * 7 / 10
    assert together.more_than_product(run(product), LAYERS).holds is False
    once = together.more_than_product(run(repeats=1), LAYERS)
    assert once.holds is None
    assert "each request was sent once" in once.saw
    alone = together.more_than_product(run({"base": (4, 6), "prefix": (1, 6)}), LAYERS)
    assert alone == (None, "no arm of this run had prefix caching × speculation beside each of the two alone")


def test_an_interaction_is_no_gain_of_a_layer_in_the_table():
    table = together.gain_rows(layer_gains(run()), "e2e_s")
    verdicts = {row["of"]: row["verdict"] for row in table}
    assert verdicts["prefix × spec, averaged"] == "more than the product"
    assert verdicts["prefix, averaged"] == verdicts["prefix+spec, against base"] == "better"
    against = {**TIMES, "prefix+spec": (4.0, 6.0)}
    verdicts = {row["of"]: row["verdict"] for row in together.gain_rows(layer_gains(run(against)), "e2e_s")}
    assert verdicts["prefix × spec, averaged"] == "less than the product"


def test_a_gain_is_held_against_the_verdict_that_was_expected():
    gains = arm_gains(frame_of(planted()), NONE)
    assert as_expected(gains, "pd", "e2e_s", "worse").holds
    assert as_expected(gains, "pd", "e2e_s", "better", "same").holds is False
    holds, saw = as_expected(gains, "prefix", "e2e_s", "better")
    assert holds
    assert saw.startswith("with prefix caching answers came ")
    assert saw.endswith("on 10 requests of 5 tasks, each sent 2 times")
    once = as_expected(arm_gains(frame_of(planted(repeats=1)), NONE), "prefix", "e2e_s", "better")
    assert once.holds is None
    assert as_expected(gains[gains["arm"] != "pd"], "pd", "e2e_s", "worse").holds is None


def test_fewer_tasks_and_repeats_of_the_same_run_tell_less():
    steps = frame_of(planted(tasks=6))
    table = fewer.fewer(steps, "prefix")
    assert list(zip(table["tasks"], table["repeats"], strict=True)) == [*((n, 2) for n in range(1, 7)), (6, 1)]
    assert table["gain"].tolist() == pytest.approx([seconds("base") / seconds("prefix")] * 7)
    assert fewer.in_words(table)["verdict"].tolist() == ["too few to tell"] * 4 + ["better"] * 2 + ["too few to tell"]
    whole = row_of(arm_gains(steps, NONE), "prefix", "e2e_s")
    assert table.iloc[5]["verdict"] == whole["verdict"]
    found = fewer.told_from(table)
    assert found.holds
    assert found.saw == "with 2 repeats there is a verdict from 5 tasks on, and with 1 repeat of 6 tasks there is none"


def test_a_small_run_has_no_verdict_to_lose():
    holds, saw = fewer.told_from(fewer.fewer(frame_of(planted(tasks=2, repeats=1)), "prefix"))
    assert holds is None
    assert saw.startswith("no verdict comes of 2 tasks with 1 repeat, since ")
    assert fewer.told_from(fewer.fewer(frame_of(planted(arms=("base",))), "prefix")).holds is None


def test_what_fewer_would_have_told_is_drawn_faint_where_it_is_nothing():
    info = fewer.fewer_info(fewer.fewer(frame_of(planted(arms=ALL, tasks=6)), "prefix"), "prefix")
    (panel,) = info.panels
    assert [mark.label for mark in panel.marks][-2:] == ["6 tasks, 2 repeats", "6 tasks, 1 repeat"]
    marks = {trace.y[0]: trace for trace in forest_figure(info).data if trace.mode == "markers"}
    assert marks["6 tasks, 1 repeat"].opacity == FAINT
    assert marks["6 tasks, 2 repeats"].opacity == 1
    assert math.isclose(marks["1 task, 2 repeats"].x[0], seconds("base") / seconds("prefix"))
    none = fewer.fewer_info(fewer.fewer(frame_of(planted(arms=("base",))), "prefix"), "prefix")
    assert none.caption.empty


def test_an_interval_of_one_repeat_may_be_the_narrower_one():
    """Starts of an engine that differ by a third either way: only two repeats show it."""
    dice = np.random.default_rng(2)
    slow = {(arm, n): math.exp(dice.normal(0, 0.3)) for arm in ALL for n in range(2)}
    steps = frame_of(planted(noise=lambda: dice.normal(0, 0.02)))
    for key, factor in slow.items():
        mine = (steps["arm"] == key[0]) & (steps["repeat"] == key[1])
        steps.loc[mine, "t_end"] *= factor
    found = fewer.half_is_wider(fewer.fewer(steps, "prefix"))
    assert found.holds is False
    assert found.saw.endswith("that is not in its interval")
    once = fewer.half_is_wider(fewer.fewer(frame_of(planted(repeats=1)), "prefix"))
    assert once == (None, "the run has no interval of one repeat beside one of several")


def test_half_the_data_gives_the_wider_interval_where_only_requests_differ():
    """Noise of the first repeat that the second takes back: together they are exact."""
    dice = np.random.default_rng(4)
    noise = iter([sign * x for x in dice.normal(0, 0.3, 8 * len(ALL)) for sign in (1, -1)])
    steps = frame_of(planted(turns=1, tasks=8, noise=lambda: next(noise)))
    holds, saw = fewer.half_is_wider(fewer.fewer(steps, "prefix"))
    assert holds
    assert saw.startswith("the interval of one repeat is ")
