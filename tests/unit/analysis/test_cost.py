"""Costs worked out by hand."""

import pandas as pd
import pytest
from builders import a_step, frame_of

from labkit.analysis.cost import cost_table
from labkit.analysis.hourly import hourly
from labkit.analysis.recost import RateRow, recost
from labkit.core.prices import Figure, Price, PriceKind, Prices


def price(kind: PriceKind = "rent", gpus: int = 8, **values: float) -> Price:
    figures = tuple(
        Figure(name=name, value=value, unit="", meaning="", source="", date="2026-11", assumption=True)
        for name, value in values.items()
    )
    return Price(name="p", about="", kind=kind, gpus=gpus, profiles=(), figures=figures)


AN_HOUR_3_6 = Prices({"p": price(gpus=2, rent_per_gpu_hour=0.9, utilisation=0.5)})
"""2 GPUs at 0.9 USD, paid for twice the hours: 3.6 USD an hour of work, 0.001 USD a second."""


def steps(arm: str = "base", **values: object) -> list[object]:
    """Two steps, 10 s from the first send to the last end, 3 s of them between the steps."""
    tokens = {"prompt_tokens": 1000, "cached_tokens": 600, "completion_tokens": 50}
    spans = ((100.0, 104.0), (107.0, 110.0))
    return [
        a_step(arm=arm, turn=turn, **{**tokens, "t_send": start, "t_end": end, **values})
        for turn, (start, end) in enumerate(spans, 1)
    ]


def rows(*records: object, **more: object) -> list[dict[str, object]]:
    table = cost_table(frame_of(list(records)), AN_HOUR_3_6, **more)  # type: ignore[arg-type]
    return table.astype(object).where(table.notna(), None).to_dict("records")  # type: ignore[return-value]


def test_an_hour_of_rent_pays_all_gpus_and_the_idle_hours() -> None:
    assert hourly(price(rent_per_gpu_hour=2.0, utilisation=0.5)).total == pytest.approx(32)


def test_an_hour_of_an_own_machine() -> None:
    """87,600 USD over 5 years at half use: 4 an hour, 4 more for upkeep; 2 kW * 1.5 * 0.10: 0.3."""
    parts = hourly(
        price("own", hardware_price=87_600, years=5, utilisation=0.5, upkeep=0.2, power=2000, power_price=0.1, pue=1.5)
    )
    assert (parts.hardware, parts.upkeep, parts.power, parts.rent) == pytest.approx((4.0, 4.0, 0.3, 0.0))
    assert parts.total == pytest.approx(8.3)


def test_what_a_task_and_a_million_tokens_cost() -> None:
    (row,) = rows(*steps())
    assert row["usd_per_hour"] == pytest.approx(3.6)
    assert row["seconds"] == pytest.approx(10)  # tools and all: the machine waits, and is paid for
    assert row["usd"] == row["usd_per_task"] == pytest.approx(0.01)
    assert row["usd_per_m_prompt"] == pytest.approx(0.01 / 2000 * 1e6)
    assert row["usd_per_m_computed"] == pytest.approx(0.01 / 800 * 1e6)
    assert row["usd_per_m_generated"] == pytest.approx(0.01 / 100 * 1e6)
    assert (row["agents"], row["n_tasks"], row["n_steps"], row["n_failed"]) == (1, 1, 2, 0)
    assert row["n_solved"] is row["usd_per_solved"] is row["joules"] is None


def solved(*reached: bool) -> pd.DataFrame:
    columns = ["arm", "task", "agent", "repeat", "solved"]
    return pd.DataFrame([("base", "count", "a0", n, yes) for n, yes in enumerate(reached)], columns=columns)


def test_failed_tasks_stay_in_the_denominator_and_are_paid_by_the_solved_ones() -> None:
    two = [*steps(), *steps(repeat=1, error="HTTP 500")]
    (row,) = rows(*two, solved=solved(True, False))
    assert (row["n_tasks"], row["n_solved"], row["n_failed"]) == (2, 1, 2)
    assert row["usd_per_task"] == pytest.approx(0.01)
    assert row["usd_per_solved"] == pytest.approx(0.02)


def test_none_solved_has_no_cost_per_solved_task() -> None:
    (row,) = rows(*steps(), solved=solved(False))
    assert row["n_solved"] == 0
    assert row["usd_per_solved"] is None


def test_a_task_run_that_nobody_checked_leaves_the_count_unknown() -> None:
    (row,) = rows(*steps(), *steps(repeat=1), solved=solved(True))
    assert row["n_solved"] is row["usd_per_solved"] is None


def test_a_step_that_did_not_tell_its_tokens_leaves_no_cost_per_token() -> None:
    (row,) = rows(*steps(), a_step(turn=3, t_send=111.0, t_end=112.0, prompt_tokens=10, completion_tokens=5))
    assert row["usd_per_m_computed"] is None
    assert row["usd_per_m_prompt"] == pytest.approx(0.012 / 2010 * 1e6)


def test_arms_conditions_and_cache_states_are_rows_of_their_own() -> None:
    more = [*steps(agent="0", condition="agents=2"), *steps(agent="1", condition="agents=2")]
    table = rows(*steps("prefix"), *steps(), *steps(cache="warm"), *more)
    assert [(row["arm"], row["condition"], row["cache"], row["agents"], row["n_tasks"]) for row in table] == [
        ("base", "", "cold", 1, 1), ("base", "", "warm", 1, 1), ("base", "agents=2", "cold", 2, 2),
        ("prefix", "", "cold", 1, 1),
    ]  # fmt: skip
    assert table[2]["usd_per_task"] == pytest.approx(0.005)  # two agents at once share the same ten seconds


def test_further_recordings_of_an_agent_are_task_runs_and_no_further_agents() -> None:
    lives = [step for agent in ("0", "0.1", "0.2", "1", "1.1", "1.2") for step in steps(agent=agent)]
    two = [step for agent in ("0", "0.1", "1") for step in steps(agent=agent, condition="agents=2", recording=agent)]
    (unsaid,) = rows(*lives)
    assert (unsaid["agents"], unsaid["n_tasks"]) == (2, 6)
    (said,) = rows(*two)  # each of the three recordings was one agent's at a time
    assert (said["agents"], said["n_tasks"]) == (2, 3)


def test_joules_are_shared_out_like_the_money() -> None:
    energy = pd.DataFrame({"arm": ["base", "base"], "repeat": [0, 1], "joules": [300.0, 500.0]})
    (row,) = rows(*steps(), *steps(repeat=1), joules=energy, solved=solved(True, False))
    assert (row["joules"], row["joules_per_task"], row["joules_per_solved"]) == pytest.approx((800, 400, 800))
    (row,) = rows(*steps(), *steps(repeat=2), joules=energy)
    assert row["joules"] is None  # a repeat was not measured
    assert [row["joules"] for row in rows(*steps(), *steps(cache="warm"), joules=energy)] == [None, None]


def test_warm_up_is_free_and_nothing_costs_nothing() -> None:
    (row,) = rows(*steps(), a_step(turn=1, warmup=True, t_send=0.0, t_end=90.0))
    assert row["seconds"] == pytest.approx(10)
    assert cost_table(frame_of([]), AN_HOUR_3_6).empty


def test_published_rates_get_a_price() -> None:
    """3.6 USD an hour at 2 requests a second: 0.0005 USD each, 0.002 for each of the quarter that was good."""
    rate = {"what": "", "machine": "", "url": "", "date": "", "caution": ""}
    table = recost(
        [
            RateRow(id="a", gpus=2, requests_per_s=2, good_share=0.25, generated_tokens=1000, **rate),
            RateRow(id="other machine", gpus=8, requests_per_s=2, **rate),
            RateRow(id="unknown", **rate),
        ],
        AN_HOUR_3_6,
    )
    assert list(table["id"]) == ["a", "unknown"]
    assert table.loc[0, ["usd_per_request", "usd_per_good", "usd_per_m_generated"]].tolist() == pytest.approx(
        [0.0005, 0.002, 0.5]
    )
    assert table.loc[1, ["usd_per_request", "usd_per_good", "usd_per_m_generated"]].isna().all()
    assert table["missing"].tolist() == ["", "requests_per_s, good_share, generated_tokens"]


def test_a_toggled_attempt_is_not_priced_with_the_verdict_of_another() -> None:
    """Agent a0 toggled to prefix in a lap of base; prefix's own lap of the same number was solved."""
    solved = pd.DataFrame([("prefix", "count", "a0", 0, True)], columns=["arm", "task", "agent", "repeat", "solved"])
    own, toggled = rows(*steps("prefix"), *steps("prefix", condition="toggled from base"), solved=solved)
    assert (own["condition"], own["n_solved"]) == ("", 1)
    assert (toggled["n_solved"], toggled["usd_per_solved"]) == (None, None)


def test_steps_of_which_none_told_its_end_have_no_cost() -> None:
    (row,) = rows(a_step(t_end=None, error="refused"))
    assert (row["seconds"], row["usd_per_task"]) == (0.0, None)
