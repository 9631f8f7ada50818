"""Wall time in parts: by hand, that the parts add up always, and what is null when nobody measured it."""

import pandas as pd
import pytest
from builders import a_step, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.analysis.ledger import PARTS, LedgerRow, ledger, step_ledger
from labkit.core.columns import columns_of

FULL = {
    "t_send": 1.0,
    "t_end": 3.0,
    "send_lag_s": 0.01,
    "server_s": 0.02,
    "queue_s": 0.05,
    "prefill_s": 0.6,
    "decode_s": 1.3,
    "tool_name": "look",
    "tool_s": 0.4,
}


def of(*changes: dict[str, object], arm: str = "prefix") -> pd.Series:
    steps = [a_step(**{"arm": arm, **FULL, "turn": n, **change}) for n, change in enumerate(changes or ({},), 1)]
    return ledger(frame_of(steps)).iloc[0]


def test_a_step_by_hand():
    row = of()
    assert row["wall"] == pytest.approx(0.01 + 2.0 + 0.4)
    assert row["other"] == pytest.approx(2.0 - 0.02 - 0.05 - 0.6 - 1.3)
    assert row["unaccounted_share"] == pytest.approx(0.03 / 2.01)
    assert (row["transfer"], row["n"], row["n_unsplit"], row["n_over"]) == (0, 1, 0, 0)
    assert sum(row[part] for part in PARTS) == pytest.approx(row["wall"])


def test_a_split_arm_has_its_transfer_and_no_zero_in_place_of_one():
    assert of({"transfer_s": 0.02}, arm="pd")["other"] == pytest.approx(0.01)
    unknown = of({}, arm="pd")
    assert pd.isna(unknown["transfer"])
    assert unknown["other"] == pytest.approx(0.03)


def test_without_the_engines_times_there_is_a_wall_and_no_parts():
    row = of({"prefill_s": None, "queue_s": None})
    assert row["wall"] == pytest.approx(2.41)
    assert (row["n"], row["n_unsplit"]) == (1, 1)
    assert row[["server", "queue", "prefill", "transfer", "decode", "other", "unaccounted_share"]].isna().all()


def test_a_step_without_times_is_left_out_of_the_sums_of_those_that_have_them():
    row = of({}, {"prefill_s": None}, {})
    assert (row["n"], row["n_unsplit"]) == (2, 1)
    assert sum(row[part] for part in PARTS) == pytest.approx(row["wall"]) == pytest.approx(2 * 2.41)


def test_more_engine_time_than_the_client_saw_is_counted_and_not_hidden():
    row = of({"decode_s": 1.6}, {})
    assert row["n_over"] == 1
    assert row["other"] == pytest.approx(-0.27 + 0.03)
    assert row["unaccounted_share"] == pytest.approx((0.27 + 0.03) / 4.02), "too much does not make up for too little"


def test_a_step_without_a_tool_took_none_and_one_whose_tool_was_not_timed_has_no_wall():
    assert of({"tool_name": None, "tool_s": None})["tool"] == 0
    assert of({"tool_s": None})["n"] == 0


def test_a_script_has_a_wall_and_no_parts():
    row = of({"prefill_s": None, "decode_s": None, "queue_s": None, "server_s": None}, arm="none")
    assert (row["arm"], row["n"], row["wall"]) == ("none", 1, pytest.approx(2.41))
    assert row[["prefill", "transfer", "decode", "other"]].isna().all()


def test_without_the_servers_clock_its_time_is_in_other():
    row = of({"server_s": None})
    assert pd.isna(row["server"])
    assert row["other"] == pytest.approx(0.05)


def test_failed_and_warm_up_steps_are_no_wall():
    assert of({}, {"error": "HTTP 500"}, {"warmup": True})["n"] == 1
    empty = ledger(frame_of([]))
    assert list(empty.columns) == [c.name for c in columns_of(LedgerRow)]


seconds = st.one_of(st.none(), st.floats(0, 5))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(["base", "all"]), st.tuples(*[seconds] * 7), st.floats(0, 9))
def test_the_parts_of_a_split_step_add_up_whatever_is_missing(arm, parts, took):
    lag, server, queue, prefill, transfer, decode, tool = parts
    step = a_step(
        arm=arm,
        t_send=0.0,
        t_end=took,
        send_lag_s=lag,
        server_s=server,
        queue_s=queue,
        prefill_s=prefill,
        transfer_s=transfer,
        decode_s=decode,
        tool_s=tool,
    )
    row = step_ledger(frame_of([step])).iloc[0]
    assert row["wall"] == pytest.approx(took + (lag or 0) + (tool or 0))
    if prefill is None or decode is None:
        assert pd.isna(row["other"])
    else:
        assert sum(row[part] for part in PARTS if pd.notna(row[part])) == pytest.approx(row["wall"], abs=1e-9)
