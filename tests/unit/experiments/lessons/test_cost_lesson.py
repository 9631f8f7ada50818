"""Costs of a lesson, worked out by hand: three prices of one bill, kinds of tokens, company, and each assumption."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_step, frame_of

from labkit.analysis.cost import cost_table
from labkit.analysis.recost import RateRow, recost
from labkit.core.errors import BadInput, UnknownName
from labkit.core.prices import Figure, Price
from labkit.experiments.lessons import assumptions, company, cost, spent
from labkit.experiments.lessons.told import Unmeasured

FIGURES = {"rent_per_gpu_hour": 0.9, "utilisation": 0.5}


def a_price(**values: float) -> Price:
    """2 GPUs at 0.9 USD, paid for twice the hours: 3.6 USD an hour of work, 0.001 USD a second."""
    figures = tuple(
        Figure(name=name, value=value, unit="USD", meaning=name, source="us", date="2026", assumption=True)
        for name, value in {**FIGURES, **values}.items()
    )
    return Price(name="p", about="", kind="rent", gpus=2, profiles=(), figures=figures)


def request(arm: str, first: float, rest: float, **values: object):
    end = first + rest
    told = {"prompt_tokens": 100, "cached_tokens": 0, "completion_tokens": 30}
    times = {"t_send": 0.0, "t_first_token": first, "t_last": end, "t_end": end, "prefill_s": first, "decode_s": rest}
    return a_step(arm=arm, **{**told, **times, **values})


STEPS = frame_of(
    [
        request("base", 4.0, 6.0, tool_name="run", tool_s=2.0),
        request("prefix", 1.0, 6.0, cached_tokens=80, tool_name="run", tool_s=2.0),
        request("prefix+spec", 1.0, 4.0, cached_tokens=80, drafted_tokens=40, accepted_tokens=25),
    ]
)


@pytest.fixture
def costs():
    return cost_table(STEPS, {"p": a_price()})


def test_the_price_is_that_of_the_profiles_machine_unless_it_is_named():
    assert cost.price_of("cpu-smollm2").name == "laptop-cpu"
    assert cost.price_of("cpu-smollm2", "h200-8-rent").name == "h200-8-rent"
    with pytest.raises(BadInput, match="No price is known"):
        cost.price_of("no-such-profile")
    with pytest.raises(UnknownName):
        cost.price_of("cpu-smollm2", "no-such-price")
    figures = cost.figures_of(cost.price_of("mi300x-8-qwen3-235b"))
    assert figures["from"].tolist()[0].startswith("https://")
    assert figures["from"].tolist()[1].startswith("assumption: ")


def test_each_step_from_the_hour_to_a_million_tokens(costs):
    """10 s at 0.001 USD; 30 tokens, so 10,800 an hour."""
    lines = cost.arithmetic(cost.row_of(costs, "base")).set_index("what")["base"]
    assert lines["an hour of work"] == "$3.60"
    assert lines["spent"] == lines["per task run"] == "$0.0100"
    assert lines["generated in an hour"] == "10.8k tokens"
    assert lines["per million generated"] == "$333"
    assert lines["per solved task"] == "–"
    with pytest.raises(BadInput, match="base, prefix"):
        cost.row_of(costs, "all")


def test_one_bill_makes_prompt_tokens_cheaper_and_computed_ones_dearer(costs):
    found = cost.denominators(costs)
    assert found.holds
    assert "the bill fell to 70 % of base's and the computed tokens to 20 %" in found.saw
    assert "$70.0 against $100 (0.70x)" in found.saw
    assert "$350 against $100 (3.50x; n = 1 task run)" in found.saw
    assert cost.denominators(costs[costs["arm"] == "base"]).holds is None


def test_a_cheaper_arm_may_fail_more_tasks(costs):
    table = cost.break_even(costs).set_index("arm")
    assert table["per solved task"].to_dict() == {
        "base": "–",
        "prefix": "cheaper while it solves over 70 % of what base solves",
        "prefix+spec": "cheaper while it solves over 50 % of what base solves",
    }
    assert table.loc["prefix", ["solved", "a solved task"]].tolist() == ["–", "–"]


def test_a_dearer_arm_must_solve_more():
    """16 s against 10."""
    slow = frame_of([request("base", 4.0, 6.0), request("pd", 10.0, 6.0)])
    table = cost.break_even(cost_table(slow, {"p": a_price()})).set_index("arm")
    assert table.loc["pd", "per solved task"] == "dearer unless it solves 1.60 times as many as base"


def test_a_published_row_without_rates_is_dashes():
    row = RateRow(id="x", what="w", machine="m", gpus=None, requests_per_s=None, good_share=None, prompt_tokens=None,
                  generated_tokens=None, claimed_usd=None, url="", date="2026", caution="")  # fmt: skip
    (shown,) = cost.published_in_words(recost([row], {"p": a_price()})).to_dict("records")
    assert shown["per million generated"] == shown["a request"] == "–"
    assert shown["not published"] == "requests_per_s, good_share, generated_tokens"


def test_what_a_cached_token_took():
    """0.04 s a computed token; of prefix's 1 s its 20 computed ones explain 0.8; 0.2 s over 80 cached ones."""
    by_arm = spent.spent(STEPS)
    base, prefix = by_arm["base"], by_arm["prefix"]
    assert (base.computed, prefix.cached, prefix.n_tasks, base.tool_s) == (100, 80, 1, 2.0)
    assert spent.cached_token_s(base, prefix) == pytest.approx(0.0025)
    assert spent.cached_token_s(base, base) is None
    holds, saw = spent.cached_is_cheap(base, prefix)
    assert holds
    assert saw == "a cached token took 0.06x of a computed one (n = 1 step of 1 task, with 80 cached tokens)"
    table = spent.kinds(base, prefix, usd_per_hour=3.6)
    assert table["per million"].tolist() == ["$40.0", "$2.50", "$200", "$200"]
    assert table["over a computed one"].tolist() == ["1.00x", "0.06x", "5.00x", "5.00x"]
    assert spent.kinds(base, base, 3.6)["per million"].tolist()[1] == "–"
    assert spent.cached_is_cheap(base, base).holds is None


def test_a_cached_token_that_took_nothing_is_said_to():
    fast = replace(spent.spent(STEPS)["prefix"], prefill_s=0.5)
    assert "nothing that could be measured" in spent.cached_is_cheap(spent.spent(STEPS)["base"], fast).saw


@pytest.fixture
def found():
    by_arm = spent.spent(STEPS)
    return assumptions.assumptions(
        by_arm["prefix+spec"], by_arm["base"], a_price(), 2.0, company.Company("prefix", 4, 0.5)
    )


def test_each_assumption_moves_the_cost_by_what_it_says(found):
    """Of 5 s: 1 prefill, 4 decode."""
    ends = {one.name: (one.low, one.high) for one in found}
    assert ends["price of the machine"] == pytest.approx((0.5, 2.0))
    assert ends["hours that are paid and not used"] == pytest.approx((0.5, 5.0))
    assert ends["agents at once"] == (0.5, 1.0)
    assert ends["the layers"] == pytest.approx((1.0, 2.0))
    assert ends["cached tokens priced as computed"] == pytest.approx((1.0, 1.6))
    assert ends["input to output"] == pytest.approx((0.9, 1.2))
    assert ends["rejected drafts priced as output"] == pytest.approx((1.0, 1.4))
    assert ends["failed tasks left out"] == (1.0, 2.0)
    assert "waiting for tools" not in ends  # this arm's step asked for none
    assert [one.swing for one in found] == sorted((one.swing for one in found), reverse=True)
    assert {one.name for one in found if not one.measured} == {
        "price of the machine", "hours that are paid and not used", "input to output", "failed tasks left out"
    }  # fmt: skip


def test_waiting_for_tools_is_paid_for():
    by_arm = spent.spent(STEPS)
    found = assumptions.assumptions(by_arm["prefix"], by_arm["base"], a_price(), 10 / 7)
    tools = next(one for one in found if one.name == "waiting for tools")
    assert (tools.here, tools.high) == ("2.00 s", pytest.approx(9 / 7))
    assert "agents at once" not in {one.name for one in found}


def test_what_moves_most_is_said_with_both_numbers(found):
    holds, saw = assumptions.measured_moves_more(found)
    assert holds is False  # as much is not more, and no price of ours makes it so
    assert saw == (
        "of what was measured, agents at once (1 to 4) moves the cost of a task most, 2.00x, "
        "and the layers (prefix+spec to base) move it 2.00x, which is the same within 5 %"
    )
    by_arm = spent.spent(STEPS)
    crowd = company.Company("prefix", 8, 0.25)
    more = assumptions.assumptions(by_arm["prefix+spec"], by_arm["base"], a_price(), 2.0, crowd)
    assert assumptions.measured_moves_more(more).holds is True
    fewer = assumptions.assumptions(by_arm["prefix+spec"], by_arm["base"], a_price(), 4.0, crowd._replace(over_one=0.5))
    assert assumptions.measured_moves_more(fewer).holds is False
    rows = assumptions.in_words(found, 0.005).set_index("assumption")
    assert rows.loc["the layers", "a task costs"] == "$0.00500 to $0.0100"
    base = spent.spent(STEPS)["base"]
    nothing = assumptions.measured_moves_more(assumptions.assumptions(base, base, a_price(), 1.0))
    assert isinstance(nothing.saw, Unmeasured)


def test_company_shares_the_hour():
    """Two agents generate twice as much in the same 10 s."""
    one = request("prefix", 4.0, 6.0, condition="agents=1")
    two = [request("prefix", 4.0, 6.0, condition="agents=2", agent=name) for name in "ab"]
    table = company.in_company(cost_table(frame_of([*two, one]), {"p": a_price()}))
    assert table["agents"].tolist() == [1, 2]
    assert table["relative"].tolist() == pytest.approx([1.0, 0.5])
    assert company.company_of(table, "all") == company.company_of(table, "prefix") == ("prefix", 2, pytest.approx(0.5))
    holds, saw = company.cheaper_in_company(table, "prefix")
    assert holds
    assert "with 2 agents at once a million generated tokens cost $167 against $333 with 1 under prefix" in saw
    assert company.in_words(table)["over one agent's"].tolist() == ["1.00x", "0.50x"]


def test_one_number_of_agents_tells_nothing(costs):
    table = company.in_company(costs)
    assert company.company_of(table, "prefix") is None
    assert company.cheaper_in_company(table, "prefix").holds is None
