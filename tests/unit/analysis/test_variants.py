"""The same requests in variants: rates, ceilings and gains of each, on the made-up run whose numbers are known."""

from __future__ import annotations

import pandas as pd
import pytest
from synthetic import failed, frame, step, steps

from labkit.analysis.variants import variant_table


def test_each_variant_has_its_own_rates_and_its_own_base():
    clean = frame(steps(("base", "prefix"), turns=3))
    broken = frame([*steps(("base",), turns=3), *(step("prefix", n, cached_tokens=0) for n in (1, 2, 3))])
    table = variant_table({"clean": clean, "broken": broken}).set_index("variant")
    assert list(table.index) == ["clean", "broken"]
    assert list(table["n"]) == [3, 3]
    assert list(table["prompt"]) == [2400, 2400]  # 600 + 800 + 1000
    assert list(table["computed"]) == [2400 - 600 - 792, 2400]
    assert table.loc["clean", "hit_rate"] == table.loc["clean", "hit_ceiling"] == pytest.approx(1392 / 2400)
    assert table.loc["broken", "hit_rate"] == 0
    # TTFT is 1 s per 1000 computed tokens
    assert table.loc["clean", "gain"] == pytest.approx(2.4 / (0.6 + 0.2 + 0.208))
    assert table.loc["clean", ["ttft_p50_s", "base_p50_s"]].tolist() == pytest.approx([0.208, 0.8])


def test_a_gain_is_over_the_steps_that_both_arms_finished():
    rows = [*steps(("base",), turns=3), step("prefix", 1), failed("prefix", 2), step("prefix", 3)]
    row = variant_table({"one": frame(rows)}).iloc[0]
    assert row["n_pairs"] == 2
    assert row["gain"] == pytest.approx((0.6 + 1.0) / (0.6 + 0.208))
    assert (row["base_sum_s"], row["arm_sum_s"]) == pytest.approx((1.6, 0.808))
    assert row["n"] == 2


def test_without_base_rates_stay_and_there_is_no_gain():
    row = variant_table({"one": frame(steps(("prefix",), turns=2))}).iloc[0]
    assert row["n"] == 2
    assert row["n_pairs"] == 0
    assert pd.isna(row["gain"])
    assert pd.isna(row["arm_sum_s"])
    assert row["ttft_p50_s"] == pytest.approx(0.4)
    assert pd.isna(row["base_p50_s"])


def test_warm_up_is_no_step():
    warm = frame([step("prefix", 1, warmup=True), step("prefix", 1)])
    assert variant_table({"one": warm}).iloc[0]["n"] == 1
