"""The arm table, with answers worked out by hand."""

import pytest
from builders import a_step, chunks_at, frame_of

from labkit.analysis.acceptance import acceptance, acceptance_by_kind
from labkit.analysis.arms import ArmRow, arm_table, in_order, ratio
from labkit.core.arms import ARMS
from labkit.core.columns import columns_of
from labkit.core.records import ChunkRecord, StepRecord


def test_empty_in_empty_out_with_the_declared_columns():
    table = arm_table(frame_of([], StepRecord), frame_of([], ChunkRecord))
    assert table.empty
    assert list(table.columns) == [c.name for c in columns_of(ArmRow)]


def test_one_row_per_arm_by_hand():
    base = [
        a_step(turn=1, t_send=0.0, t_first_token=1.0, t_last=2.0, t_end=3.0, prompt_tokens=100, cached_tokens=0,
               ceiling_tokens=0, completion_tokens=11),
        a_step(turn=2, t_send=10.0, t_first_token=13.0, t_last=14.0, t_end=15.0, prompt_tokens=300, cached_tokens=0,
               ceiling_tokens=96, completion_tokens=11),
    ]  # fmt: skip
    prefix = [
        a_step(arm="prefix", turn=1, t_send=20.0, t_first_token=21.0, t_end=23.0, prompt_tokens=100, cached_tokens=0,
               ceiling_tokens=0, switched_by="salt"),
        a_step(arm="prefix", turn=2, t_send=30.0, t_first_token=30.5, t_end=31.0, prompt_tokens=300, cached_tokens=64,
               ceiling_tokens=96, switched_by="flag"),
    ]  # fmt: skip
    chunks = chunks_at(base[0], 1.0, 1.5, 2.0) + chunks_at(base[1], 13.0, 14.0)
    table = arm_table(frame_of([*prefix, *base]), frame_of(chunks)).set_index("arm")
    assert list(table.index) == ["base", "prefix"]
    row = table.loc["base"]
    assert (row.n_steps, row.n_failed, row.e2e_s, row.e2e_p50_s) == (2, 0, 8.0, 4.0)
    assert (row.ttft_p50_s, row.ttft_p95_s) == (2.0, pytest.approx(2.9))
    assert (row.n_gaps, row.itl_p50_s, row.itl_p99_s) == (3, 0.5, pytest.approx(0.99))
    assert (row.tpot_p50_s, row.ntpot_p50_s) == (pytest.approx(0.1), pytest.approx(4 / 11))
    assert (row.prompt_computed, row.prompt_cached, row.hit_rate) == (400, 0, 0.0)
    assert row.hit_ceiling == 96 / 400
    assert (row.ratio_to_base, row.n_pairs, row.too_few) == (1.0, 2, True)
    row = table.loc["prefix"]
    assert (row.prompt_computed, row.prompt_cached, row.hit_rate) == (336, 64, 64 / 400)
    assert row.ratio_to_base == 8.0 / 4.0
    assert row.switched_by == "flag, salt"


def test_what_was_not_measured_is_null():
    row = arm_table(frame_of([a_step()]), frame_of([], ChunkRecord)).iloc[0]
    for column in columns_of(ArmRow):
        if column.name.startswith(("prompt", "hit", "accept", "itl", "ttft", "tpot", "ntpot")):
            assert row.isna()[column.name], column.name
    assert (row.n_usage, row.n_gaps) == (0, 0)


def test_warm_up_is_thrown_away_and_failures_stay_in_the_count():
    steps = [
        a_step(turn=1, warmup=True, t_send=0.0, t_end=100.0),
        a_step(turn=1, t_send=0.0, t_end=2.0),
        a_step(turn=2, t_send=0.0, t_end=None, error="HTTP 500"),
        a_step(turn=3, t_send=0.0, t_end=50.0, error="cut off", t_first_token=40.0),
        a_step(turn=4, t_send=0.0, t_end=None),
    ]
    chunks = chunks_at(steps[0], 0.0, 90.0) + chunks_at(steps[1], 0.5, 1.0)
    row = arm_table(frame_of(steps), frame_of(chunks)).iloc[0]
    assert (row.n_steps, row.n_failed, row.e2e_s) == (4, 3, 2.0)
    assert row.isna().ttft_p50_s
    assert (row.n_gaps, row.itl_p50_s) == (1, 0.5)


def test_the_ratio_is_over_steps_that_finished_in_both():
    base = [a_step(turn=t, t_send=0.0, t_end=4.0) for t in (1, 2, 3)]
    spec = [
        a_step(arm="spec", turn=1, t_send=0.0, t_end=1.0),
        a_step(arm="spec", turn=2, t_send=0.0, t_end=1.0, error="cut off"),
        a_step(arm="spec", turn=4, t_send=0.0, t_end=900.0),
    ]
    both = ratio(frame_of([*base, *spec]), "base", "spec")
    assert (both.ratio, both.n_pairs) == (4.0, 1)
    row = arm_table(frame_of([*base, *spec]), frame_of([], ChunkRecord)).set_index("arm").loc["spec"]
    assert (row.e2e_s, row.e2e_paired_s, row.e2e_base_s, row.ratio_to_base) == (901.0, 1.0, 4.0, 4.0)
    other_agent = [a_step(arm="pd", agent="a9", turn=1)]
    row = arm_table(frame_of([*base, *other_agent]), frame_of([], ChunkRecord)).set_index("arm").loc["pd"]
    assert (row.isna().ratio_to_base, row.isna().e2e_paired_s, row.n_pairs) == (True, True, 0)


def test_five_pairs_are_enough_to_show_without_a_mark_and_a_resent_step_counts_once():
    steps = [a_step(arm=arm, turn=t, t_send=0.0, t_end=2.0) for arm in ("base", "pd") for t in range(5)]
    steps.append(a_step(arm="pd", turn=0, t_send=0.0, t_end=4.0))
    row = arm_table(frame_of(steps), frame_of([], ChunkRecord)).set_index("arm").loc["pd"]
    assert (row.n_steps, row.n_pairs, row.too_few) == (6, 5, False)
    assert row.ratio_to_base == 10.0 / 11.0


def test_without_base_there_is_no_ratio():
    row = arm_table(frame_of([a_step(arm="all")]), frame_of([], ChunkRecord)).iloc[0]
    assert (row.isna().ratio_to_base, row.n_pairs, row.too_few) == (True, 0, True)


def test_rates_leave_out_steps_that_did_not_report():
    steps = [
        a_step(turn=1, prompt_tokens=100, cached_tokens=50),
        a_step(turn=2, prompt_tokens=1000, cached_tokens=None),
        a_step(turn=3, prompt_tokens=300, cached_tokens=150, transferred_tokens=7),
    ]
    row = arm_table(frame_of(steps), frame_of([], ChunkRecord)).iloc[0]
    assert (row.hit_rate, row.n_usage, row.prompt_computed, row.prompt_transferred) == (0.5, 2, 200, 7)


def test_acceptance_is_a_ratio_of_sums():
    steps = [
        a_step(turn=1, kind="plan", drafts=10, drafted_tokens=40, accepted_tokens=10),
        a_step(turn=2, kind="act", drafts=1, drafted_tokens=4, accepted_tokens=4),
        a_step(turn=3, kind="act", drafts=None, drafted_tokens=None, accepted_tokens=None),
        a_step(turn=4, kind="act", drafts=0, drafted_tokens=0, accepted_tokens=0),
        a_step(turn=5, kind="act", warmup=True, drafts=1, drafted_tokens=4, accepted_tokens=0),
    ]
    overall = acceptance(frame_of(steps[:4]))
    assert (overall.n, overall.drafts, overall.drafted, overall.accepted) == (3, 11, 44, 14)
    assert (overall.rate, overall.length) == (14 / 44, 1 + 14 / 11)
    kinds = acceptance_by_kind(frame_of(steps))
    assert kinds[["arm", "kind", "n", "rate", "length"]].to_numpy().tolist() == [
        ["base", "plan", 1, 0.25, 2.0],
        ["base", "act", 2, 1.0, 5.0],
    ]
    none = acceptance(frame_of([a_step()]))
    assert (none.n, none.rate, none.length, none.drafted) == (0, None, None, None)
    assert acceptance_by_kind(frame_of([a_step()])).empty
    idle = acceptance(frame_of([steps[3]]))
    assert (idle.n, idle.drafted, idle.rate, idle.length) == (1, 0, None, None)


def test_arms_come_in_the_order_of_the_glossary():
    labels = [arm.label for arm in ARMS]
    assert in_order(["zzz", *reversed(labels), "all"]) == [*labels, "zzz"]
