"""Effects with answers that were planted, and what becomes of runs with holes."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import ALL, GAINS, planted, seconds

from labkit.analysis.effect_rows import ArmGainRow, EffectRow
from labkit.analysis.effects import HEADLINE, arm_gains, effects, effects_and_gains, holm, ratio
from labkit.analysis.latency import itl
from labkit.analysis.requests import MIN_GAPS, request_costs
from labkit.analysis.tables import STEP_KEY
from labkit.core.columns import columns_of
from labkit.core.errors import BadInput
from labkit.core.records import ChunkRecord

NONE = frame_of([], ChunkRecord)
LAYER_SWAP = {"base": "prefix", "spec": "prefix+spec", "pd": "prefix+pd", "pd+spec": "all"}


def table(steps, chunks=NONE, **kwargs):
    return effects(frame_of(steps), chunks, **kwargs).set_index(["metric", "term"])


def noisy(seed=1, sd=0.1):
    dice = np.random.default_rng(seed)
    return lambda: dice.normal(0, sd)


def failing(step):
    return replace(step, t_end=None, error="HTTP 500")


def test_planted_gains_and_interactions_come_back_exactly():
    found = table(planted())
    for metric in ("e2e_s", "ttft_s", "tokens_per_s"):
        for term, gain in GAINS.items():
            row = found.loc[(metric, term)]
            assert row[["gain", "low", "high"]].tolist() == pytest.approx([gain] * 3, rel=1e-9)
            assert (row.n_requests, row.n_tasks, row.n_repeats, row.n_left_out) == (10, 5, 2, 0)
            assert row.verdict.startswith("better" if gain > 1 else "worse")
            assert (row.over, row.arms_used) == ("tasks", ",".join(ALL))
    assert found.loc["prompt_computed"]["gain"].tolist() == pytest.approx([2.0] + [1.0] * 6)
    assert found.loc[("prompt_computed", "pd_split")].verdict.startswith("same")


def test_an_interaction_is_the_combination_over_the_product_of_the_single_gains():
    times = {arm: seconds(arm) for arm in ALL}
    two = {arm: times[arm] for arm in ("base", "prefix", "spec", "prefix+spec")}
    product = (two["base"] / two["prefix"]) * (two["base"] / two["spec"])
    found = table(planted(arms=tuple(two)))
    row = found.loc[("e2e_s", "prefix_caching:speculation")]
    assert row.gain == pytest.approx(two["base"] / two["prefix+spec"] / product)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_holm_is_over_the_headline_set_and_no_other_metric():
    found = table(planted(noise=noisy()))
    head = found[found["headline"]]
    assert set(head.index.get_level_values("metric")) == set(HEADLINE)
    tested = head[head["p"].notna()]
    assert len(tested) == 14
    assert tested["p_holm"].tolist() == pytest.approx(holm(tested["p"].tolist()))
    assert found[~found["headline"]]["p_holm"].isna().all()
    assert "not corrected" in found.loc[("tokens_per_s", "prefix_caching")].verdict


def test_without_the_split_arms_the_other_terms_are_over_the_pairs_that_remain():
    found = table(planted(arms=("base", "prefix", "spec", "prefix+spec"))).loc["e2e_s"]
    assert found.loc["prefix_caching"].arms_used == "base,prefix,spec,prefix+spec"
    none = found.loc["prefix_caching:pd_split"]
    assert none.isna()[["gain", "low", "high", "p", "p_holm", "smallest_gain"]].all()
    assert none.verdict == "not measured: no value of pd, prefix+pd"


def test_one_missing_arm_takes_only_its_own_pairs():
    steps = [step for step in planted() if step.arm != "prefix+pd"]
    found = table(steps).loc["e2e_s"]
    expected = np.exp(np.mean([math.log(seconds(a) / seconds(b)) for a, b in LAYER_SWAP.items() if a != "pd"]))
    assert found.loc["prefix_caching"].gain == pytest.approx(expected)
    assert found.loc["prefix_caching"].arms_used == "base,prefix,spec,prefix+spec,pd+spec,all"
    assert found.loc["prefix_caching:pd_split"].arms_used == "spec,prefix+spec,pd+spec,all"
    assert found["gain"].isna().sum() == 1


def test_a_request_that_failed_in_one_arm_leaves_all_arms_and_is_counted():
    steps = planted(turns=3)
    at = next(n for n, step in enumerate(steps) if (step.arm, step.task, step.repeat, step.turn) == ("pd", "t2", 1, 3))
    steps[at] = replace(failing(steps[at]), t_first_token=None)
    row = table(steps).loc[("e2e_s", "pd_split")]
    assert (row.n_left_out, row.n_requests) == (1, 15)
    assert row.gain == pytest.approx(GAINS["pd_split"])
    assert row.note.startswith("1 request failed or without a value in some arm")


def test_an_arm_whose_every_step_failed_is_an_arm_that_is_missing():
    steps = [failing(step) if step.arm == "all" else step for step in planted()]
    found = table(steps).loc["e2e_s"]
    assert found.loc["prefix_caching:pd_split:speculation"].verdict == "not measured: no value of all"
    assert "all" not in found.loc["prefix_caching"].arms_used.split(",")
    gains = arm_gains(frame_of(steps), NONE).set_index(["metric", "arm"])
    assert gains.loc[("e2e_s", "all")].verdict == "not measured: no value of all"


def test_the_drift_block_has_no_partner_and_is_no_loss():
    steps = planted(repeats=2)
    drift = [replace(step, repeat=2, t_end=step.t_end * 9) for step in steps if step.arm == "base" and step.repeat == 0]
    row = table([*steps, *drift]).loc[("e2e_s", "prefix_caching")]
    assert (row.gain, row.n_repeats, row.n_left_out) == (pytest.approx(2.0), 2, 0)


def test_warm_up_and_warm_passes_are_other_things():
    steps = planted()
    warmup = [replace(step, warmup=True, t_end=99.0) for step in steps if step.arm == "prefix"]
    warm = planted(gains={**GAINS, "prefix_caching": 8.0}, cache="warm")
    assert table([*steps, *warmup, *warm]).loc[("e2e_s", "prefix_caching")].gain == pytest.approx(2.0)
    assert table([*steps, *warm], cache="warm").loc[("e2e_s", "prefix_caching")].gain == pytest.approx(8.0)


def test_one_condition_at_a_time():
    steps = [*planted(condition="agents=1"), *planted(condition="agents=4", gains={"speculation": 3.0})]
    with pytest.raises(BadInput, match=r"'agents=1' or 'agents=4'"):
        table(steps)
    assert table(steps, condition="agents=4").loc[("e2e_s", "speculation")].gain == pytest.approx(3.0)
    with pytest.raises(BadInput, match="agents=9"):
        table(steps, condition="agents=9")


def test_one_task_with_three_repeats_is_about_its_repeats():
    row = table(planted(tasks=1, repeats=3, noise=noisy())).loc[("e2e_s", "prefix_caching")]
    assert (row.over, row.df, row.n_tasks) == ("repeats of one task", 7 * 2, 1)
    assert row.low < 2.0 < row.high
    assert "on this one task" in row.verdict


def test_one_task_with_two_repeats_has_a_gain_and_no_interval():
    row = table(planted(tasks=1, repeats=2)).loc[("e2e_s", "prefix_caching")]
    assert row.gain == pytest.approx(2.0)
    assert row.isna()[["low", "high", "p", "smallest_gain"]].all()
    assert row.verdict == (
        "too few to tell: one task and 2 repeats; an interval needs 5 tasks, or 3 repeats of one task"
    )


def test_fewer_than_five_tasks_get_an_interval_and_no_verdict():
    row = table(planted(tasks=4, noise=noisy())).loc[("e2e_s", "prefix_caching")]
    assert row.low > 1
    assert row.verdict.startswith("too few to tell: 4 tasks")


def test_one_repeat_cannot_tell_times_but_can_tell_tokens():
    found = table(planted(repeats=1, tasks=6))
    row = found.loc[("e2e_s", "prefix_caching")]
    assert row.verdict.startswith("too few to tell: one repeat")
    assert row.isna().block_sd
    assert "One repeat" in row.note
    assert found.loc[("prompt_computed", "prefix_caching")].verdict.startswith("better")


def test_an_arm_that_ended_early_does_not_blind_the_others():
    steps = planted(repeats=3, noise=noisy(), arms=("base", "prefix", "spec", "prefix+spec"))
    early = [step for step in steps if step.arm != "prefix+spec" or step.repeat == 0]
    gains = arm_gains(frame_of(early), NONE).set_index(["metric", "arm"]).loc["e2e_s"]
    assert gains["n_repeats"].tolist() == [3, 3, 1]
    assert gains.loc["prefix"].verdict.startswith("better")
    assert gains.loc["prefix+spec"].verdict.startswith("too few to tell: one repeat")


def test_a_nil_effect_in_noise_is_too_few_to_tell_with_the_smallest_gain():
    row = table(planted(gains={}, noise=noisy(sd=0.3))).loc[("e2e_s", "prefix_caching")]
    assert row.verdict.startswith(f"too few to tell; a gain below {row.smallest_gain:.2f}x would be missed")
    assert row.smallest_gain > row.high / row.gain


def test_nulls_are_not_zeros():
    found = table([a_step(arm=arm, task=f"t{n}", t_end=1.5) for arm in ("base", "prefix") for n in range(5)])
    for metric in ("ttft_s", "itl_p99_s", "tokens_per_s", "prompt_computed", "joules"):
        assert found.loc[metric]["gain"].isna().all()
        assert (found.loc[metric]["verdict"] == "not measured: no arm has a value").all()


def test_a_task_with_no_token_computed_is_left_out_and_said():
    steps = [
        replace(step, cached_tokens=1000) if step.arm == "prefix" and step.task == "t0" else step
        for step in planted(arms=("base", "prefix"), repeats=1)
    ]
    row = table(steps).loc[("prompt_computed", "prefix_caching")]
    assert (row.gain, row.n_tasks) == (pytest.approx(2.0), 4)
    assert "1 pass with no prompt token computed" in row.note


def test_tokens_are_weighted_by_tokens():
    steps = []
    for task in range(5):
        for turn, (prompt, cached) in enumerate([(100, 0), (900, 800)], start=1):
            values = {"task": f"t{task}", "turn": turn, "prompt_tokens": prompt}
            steps += [a_step(**values, cached_tokens=0), a_step(arm="prefix", **values, cached_tokens=cached)]
    assert table(steps).loc[("prompt_computed", "prefix_caching")].gain == pytest.approx(1000 / 200)


def test_itl_is_the_99th_percentile_of_the_requests_own_gaps_and_needs_ten():
    steps = planted(arms=("base", "spec"), turns=1)
    chunks = []
    for step in steps:
        gap, n = (0.2, 12) if step.arm == "base" else (0.1, 12)
        if step.task == "t0":
            n = 5
        chunks += chunks_at(step, *(i * gap for i in range(n)))
    row = table(steps, frame_of(chunks)).loc[("itl_p99_s", "speculation")]
    assert (row.gain, row.n_tasks, row.n_left_out) == (pytest.approx(2.0), 4, 2)


def test_joules_are_paired_by_repeat():
    steps = planted(arms=("base", "spec"), repeats=3)
    joules = pd.DataFrame(
        [(arm, n, (100 + n) / gain) for arm, gain in (("base", 1.0), ("spec", 1.6)) for n in range(3)],
        columns=["arm", "repeat", "joules"],
    )
    row = table(steps, joules=joules).loc[("joules", "speculation")]
    assert (row.gain, row.over, row.n_repeats) == (pytest.approx(1.6), "repeats of the run", 3)
    warm = joules.assign(joules=1e9 * (1 + joules.index), condition="", cache="warm")
    both = pd.concat([joules.assign(condition="", cache="cold"), warm])
    assert table(steps, joules=both).loc[("joules", "speculation")].gain == pytest.approx(1.6)
    broken = [failing(step) if (step.arm, step.repeat, step.turn) == ("spec", 1, 1) else step for step in steps]
    row = table(broken, joules=joules).loc[("joules", "speculation")]
    assert (row.n_repeats, row.isna().low) == (2, True)


def test_arms_against_base():
    found = arm_gains(frame_of(planted()), NONE).set_index(["metric", "arm"])
    for arm in ALL[1:]:
        assert found.loc[("e2e_s", arm)].gain == pytest.approx(seconds("base") / seconds(arm))
    alone = arm_gains(frame_of(planted(arms=("prefix", "all"))), NONE).set_index(["metric", "arm"])
    assert alone.loc[("e2e_s", "all")].verdict == "not measured: no value of base"


@pytest.mark.parametrize(("of", "record"), [(effects, EffectRow), (arm_gains, ArmGainRow)])
def test_empty_in_empty_out_with_the_declared_columns(of, record):
    for steps in ([], [a_step(warmup=True)], [a_step(arm="none")]):
        found = of(frame_of(steps), NONE)
        assert found.empty
        assert list(found.columns) == [column.name for column in columns_of(record)]


@settings(max_examples=4, deadline=None)
@given(factor=st.floats(0.01, 100.0), seed=st.integers(0, 1000))
def test_gains_do_not_depend_on_the_unit_of_time(factor, seed):
    steps = planted(tasks=5, turns=1, arms=("base", "prefix", "spec", "prefix+spec"), noise=noisy(seed))
    longer = [replace(s, t_end=s.t_end * factor, t_first_token=s.t_first_token * factor) for s in steps]
    found, other = table(steps).loc["e2e_s"], table(longer).loc["e2e_s"]
    for name in ("gain", "low", "high", "p"):
        a, b = found[name].dropna(), other[name].dropna()
        assert len(a) == 3
        assert a.tolist() == pytest.approx(b.tolist(), rel=1e-6)


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1000))
def test_swapping_a_layers_arms_turns_its_gain_round(seed):
    swap = {**LAYER_SWAP, **{b: a for a, b in LAYER_SWAP.items()}}
    steps = planted(turns=1, noise=noisy(seed))
    found, turned = table(steps).loc["e2e_s"], table([replace(s, arm=swap[s.arm]) for s in steps]).loc["e2e_s"]
    for term in GAINS:
        sign = -1 if "prefix_caching" in term else 1
        assert turned.loc[term].gain == pytest.approx(found.loc[term].gain ** sign)
        ends = turned.loc[term][["low", "high"] if sign > 0 else ["high", "low"]]
        assert (ends**sign).tolist() == pytest.approx(found.loc[term][["low", "high"]].tolist())


def test_repeats_on_one_start_of_an_engine_cannot_tell_times_but_can_tell_tokens():
    shared = [replace(step, engine=step.arm) for step in planted(repeats=3, noise=noisy())]
    found = table(shared)
    row = found.loc[("e2e_s", "prefix_caching")]
    assert (row.n_repeats, row.n_starts) == (3, 1)
    assert row.verdict.startswith("too few to tell: 3 repeats on one start of an engine")
    assert "One start of an engine for all repeats" in row.note
    assert found.loc[("prompt_computed", "prefix_caching")].verdict.startswith("better")
    one = table([step for step in shared if step.task == "t0"]).loc[("e2e_s", "prefix_caching")]
    assert (one.over, one.n_starts) == ("repeats of one task", 1)
    assert one.verdict.startswith("too few to tell: 3 repeats on one start of an engine")


def test_one_arm_on_one_start_is_enough_to_blind_its_contrasts():
    steps = [replace(step, engine="kept") if step.arm == "spec" else step for step in planted(repeats=3)]
    gains = arm_gains(frame_of(steps), NONE).set_index(["metric", "arm"]).loc["e2e_s"]
    assert gains["n_starts"].to_dict() == {arm: 1 if arm == "spec" else 3 for arm in ALL[1:]}
    assert gains.loc["spec"].verdict.startswith("too few to tell: 3 repeats on one start")
    assert gains.loc["prefix"].verdict.startswith("better")


def test_arms_that_share_a_start_are_named():
    steps = [
        replace(step, engine="both") if step.arm in ("base", "prefix") and step.repeat == 0 else step
        for step in planted(repeats=3)
    ]
    row = table(steps).loc[("e2e_s", "speculation")]
    assert "shared a start of an engine, so that starts seem to differ less: base and prefix." in row.note
    assert "shared a start" not in table(planted(repeats=3)).loc[("e2e_s", "speculation")].note


@pytest.mark.parametrize(("arms", "repeats", "needed"), [(2, 2, 4), (2, 3, 4), (3, 2, 3)])
def test_few_arms_with_few_repeats_cannot_show_what_starts_differ_by(arms, repeats, needed):
    names = ("base", "prefix", "spec")[:arms]
    row = table(planted(arms=names, repeats=repeats, noise=noisy())).loc[("e2e_s", "prefix_caching")]
    assert row.verdict == (
        f"too few to tell: {arms} arms with {repeats} repeats cannot show what starts of an engine differ by; "
        f"ask for {needed} repeats"
    )
    enough = table(planted(arms=names, repeats=needed, noise=noisy())).loc[("e2e_s", "prefix_caching")]
    assert enough.verdict.startswith("better")


def test_an_engine_of_its_own_for_some_repeats_alone_is_said():
    steps = [replace(step, engine=f"{step.arm}-0") if step.repeat < 2 else step for step in planted(repeats=3)]
    row = table(steps).loc[("e2e_s", "prefix_caching")]
    assert (row.n_repeats, row.n_starts) == (3, 2)
    assert "Only 2 starts of an engine in 3 repeats, so the interval is too narrow." in row.note


def test_an_interval_without_end_is_a_number_all_the_same():
    assert (ratio(None), ratio(0.0)) == (None, 1.0)
    assert ratio(1e6) > 1e300
    assert 0 < ratio(-1e6) < 1e-300


def streamed(steps, gaps=MIN_GAPS + 2):
    """Chunks of each step, in the order of nobody; every third step has too few."""
    dice = np.random.default_rng(7)
    made = []
    for number, step in enumerate(steps):
        times = step.t_first_token + np.cumsum(dice.uniform(0.01, 0.2, 3 if number % 3 == 0 else gaps))
        made += chunks_at(step, *times)
    return frame_of(made).sample(frac=1, random_state=1)


def test_long_gaps_are_each_streams_own_however_the_rows_lie():
    steps = planted(arms=("base", "spec"))
    frame, chunks = frame_of(steps).sample(frac=1, random_state=2), streamed(steps)
    found = request_costs(frame, chunks, "itl_p99_s")["cost"].tolist()
    key = ["arm", *STEP_KEY]
    gaps = {one: rows["itl_s"] for one, rows in itl(chunks).groupby(key)}
    one_by_one = [gaps[step] for step in frame[key].itertuples(index=False, name=None)]
    expected = [each.quantile(0.99) if len(each) >= MIN_GAPS else np.nan for each in one_by_one]
    assert found == pytest.approx(expected, nan_ok=True)
    assert np.isnan(expected).any()
    narrow = chunks.astype(dict.fromkeys(("arm", "task", "recording", "agent", "condition", "cache"), "category"))
    assert request_costs(frame, narrow, "itl_p99_s")["cost"].tolist() == pytest.approx(expected, nan_ok=True)


def test_both_tables_at_once_are_the_two_tables():
    steps = planted(arms=("base", "spec"), tasks=3, noise=noisy())
    frame, chunks = frame_of(steps), streamed(steps)
    both = effects_and_gains(frame, chunks)
    pd.testing.assert_frame_equal(both.effects, effects(frame, chunks), check_exact=True)
    pd.testing.assert_frame_equal(both.arm_gains, arm_gains(frame, chunks), check_exact=True)


def test_what_would_be_missed_is_no_number_beyond_all_sense():
    jumps = iter([2.0, -2.0, 1.0, -1.5, 0.5, -0.2] * 10)
    steps = planted(arms=("base", "spec"), tasks=2, turns=1, repeats=1, noise=lambda: next(jumps))
    row = table(steps).loc[("e2e_s", "speculation")]
    assert row.smallest_gain > 100
    assert row.verdict.endswith("; even a gain of 100x would be missed")
