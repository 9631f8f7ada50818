"""Capacity and cost: sliders that are answered, prices that can be changed, and every state in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from load_folders import judged, under_load
from run_folders import ended, started, write
from synthetic import failed, steps

PROJECT = Path(__file__).parents[2]
KINDS = ("markdown", "caption", "info", "warning", "error", "code")
LEVELS = {"base": {1: (40, 40), 2: (10, 40)}, "prefix": {1: (40, 40), 2: (38, 40), 4: (4, 40)}}


@pytest.fixture(autouse=True)
def prices(machine, monkeypatch) -> None:
    """Those of the project."""
    monkeypatch.setenv("LABKIT_DATA", str(PROJECT / "data"))


def seen(app, **query: str):
    app.run()
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page("app_pages/capacity.py").run()
    assert not app.exception
    return app


def again(app):
    app.run()
    assert not app.exception
    return app


def words(app) -> str:
    return "\n".join(element.value for kind in KINDS for element in getattr(app, kind)).replace("\\$", "$")


def test_a_moved_slider_is_answered_and_the_address_sets_it(app):
    under_load(LEVELS, ttft=1.0)
    seen(app)
    assert "With 2 agents at once, prefix keeps TTFT <= 1 s" in words(app)
    assert [(each.label, each.value) for each in app.metric] == [("base", "1 agent"), ("prefix", "2 agents")]
    app.select_slider(key="ttft").set_value(3.0)
    again(app)
    assert [each.value for each in app.metric] == ["≥ 2 agents", "≥ 4 agents"]
    app.slider(key="share").set_value(50.0)
    app.select_slider(key="itl").set_value(0.05)
    again(app)
    assert "No arm keeps TTFT <= 3 s and ITL p99 <= 0.05 s for 50 % of requests with even 1 agent" in words(app)


def test_an_address_with_an_objective_opens_at_it(app):
    under_load(LEVELS, ttft=1.0)
    seen(app, ttft="0.3", tpot="0.5", share="80.0")
    assert app.select_slider(key="ttft").value == 0.3
    assert "No arm keeps TTFT <= 0.3 s, TPOT <= 0.5 s and ITL p99 <= 0.5 s for 80 % of requests" in words(app)


def test_too_few_to_tell_is_said(app):
    under_load({"prefix": {1: (5, 5)}})
    assert "too few to tell: 5 requests with 1 agent" in words(seen(app))


def test_a_run_without_levels_shows_its_cost_and_how_to_ask_for_levels(app):
    ended(steps(("base", "prefix")))
    said = words(seen(app))
    assert "This run measured no level of load" in said
    assert "labkit run capacity" in said
    assert "A task run costs $" in said
    assert app.dataframe[0].value["arm"].tolist() == ["base", "prefix"]
    assert app.dataframe[0].value["per solved task"].tolist() == ["–", "–"]
    assert not app.metric


def test_an_edited_price_is_called_edited_everywhere(app):
    judged(lambda arm, attempt: arm == "base" or attempt == 0)
    seen(app)
    listed = app.dataframe[0].value["per solved task"].tolist()
    assert "A solved task costs $" in words(app)
    app.number_input(key="utilisation").set_value(0.1)
    again(app)
    assert "laptop-cpu, edited: utilisation 0.1 instead of 0.2" in words(app)
    assert "1 figure of yours" in words(app)
    assert app.dataframe[0].value["per solved task"].tolist() != listed
    app.button(key="as_listed").click()
    again(app)
    assert "edited:" not in words(app)
    assert app.dataframe[0].value["per solved task"].tolist() == listed


def test_the_address_holds_price_and_edits(app):
    ended(steps(("base",)))
    said = words(seen(app, price="mi300x-8-rent", rent_per_gpu_hour="2.1"))
    assert "mi300x-8-rent, edited: rent per gpu hour (USD/h) 2.1 instead of 2.59" in said
    assert "Measured on cpu-smollm2: 8 x MI300X, rented on demand would take other times." in said


def test_an_impossible_value_is_said_in_words_and_nothing_is_computed(app):
    ended(steps(("base",)))
    seen(app)
    app.number_input(key="utilisation").set_value(1.5)
    again(app)
    assert app.error[0].value.startswith("utilisation: 1.5 is not allowed; allowed: above 0, at most 1")
    assert not app.dataframe


def test_nobody_solved_anything(app):
    judged(lambda *_: False)
    said = words(seen(app))
    assert "Nothing was solved in 6 task runs, so a solved task has no cost" in said
    assert "neither arm solved anything" in said
    assert app.dataframe[0].value["per solved task"].tolist() == ["–", "–"]


def test_agents_that_are_at_it_show_what_they_have(app):
    judged(lambda arm, _: arm == "base", state=None)
    said = words(seen(app))
    assert "running" in said
    assert "A solved task costs $" in said


def test_a_failed_run_says_why(app):
    ended([failed("base", 1)], "failed", "all 1 requests failed", arms=["base"])
    assert "all 1 requests failed" in words(seen(app))
    assert "nothing can be said of what an answer costs" in words(app)
    assert not app.dataframe
    assert not app.get("plotly_chart")


def test_before_the_first_step_there_is_nothing_to_pay_for(app):
    with started(["base"]):
        assert "No step has finished yet" in words(seen(app))
    assert not app.dataframe


def test_an_empty_store_says_what_to_do(app):
    assert "No run yet" in words(seen(app))


def test_loads_and_cache_states_can_be_chosen(app):
    under_load(LEVELS)
    seen(app, condition="agents=4")
    assert app.selectbox(key="condition").value == "agents=4"
    assert app.dataframe[-1].value["arm"].tolist() == ["prefix"]
    app.selectbox(key="condition").select("agents=1")
    assert again(app).dataframe[-1].value["arm"].tolist() == ["base", "prefix"]


def test_a_run_that_goes_on_is_asked_so_far(app):
    with started(["base"]) as writer:
        write(writer, steps(("base",), turns=2))
        assert "A task run costs $" in words(seen(app))
