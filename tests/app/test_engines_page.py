"""The Engines page with a fleet in every state, and starts and ends for real: the fake vLLM is the only stand-in."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import time
from pathlib import Path

import fake_vllm
import loaders
import pytest
from unit.engines.plans import plan_of, tiny

from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine, Registry
from labkit.engines.starting import this_process
from labkit.experiments.fleet_provider import FleetProvider
from labkit.store.runs import RunStore

PAGE = "app_pages/engines.py"
PLANTED = "planted"


@pytest.fixture
def profile(machine, monkeypatch) -> str:
    """The only profile: its `vllm` is the fake; whatever is up at the end is ended."""
    made, path = fake_vllm.install(machine / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(loaders, "profiles", lambda: [str(made)])
    yield str(made)
    for engine in Fleet().ps():
        if engine.id == PLANTED:
            Registry(Fleet().state_dir).forget(engine)
    Fleet().down(force=True)


@pytest.fixture
def page(app, profile):
    """The page, drawn once."""
    app.run().switch_page(PAGE)
    return drawn(app)


def drawn(app):
    app.run()
    assert not app.exception
    return app


def words(app) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "code", "subheader")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind))


def until(app, happened, seconds: float = 30.0) -> None:
    """Draw the page again, as its fragments would, until it shows what it should."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, words(app)
        time.sleep(0.2)
        drawn(app)


def up(plan) -> Engine:
    return asyncio.run(Fleet().up(plan))


def planned(profile: str, arm: str):
    return FleetProvider(Fleet(), load_profile(profile)).plan(arm_named(arm))


def planted(profile: str, *, ready: bool) -> Engine:
    """An engine whose process is this one: alive, registered, and never spoken to."""
    plan = planned(profile, "prefix")
    me = tuple(dataclasses.replace(this_process(), role=spec.role) for spec in plan.layout)
    engine = Engine(id=PLANTED, plan=plan, processes=me, owner=this_process(), ready=ready)
    Registry(Fleet().state_dir).write(engine)
    return engine


def test_an_empty_fleet_says_what_to_do_and_shows_the_memory(page):
    assert "No engine is up. Start one below" in words(page)
    assert not page.button(key="start").disabled
    assert "labkit up --profile" in words(page)
    (chart,) = page.get("plotly_chart")
    assert "free" in chart.proto.alt
    assert "Which engine still fits in memory?" in json.loads(chart.proto.spec)["layout"]["title"]["text"]


def test_a_start_that_goes_on_shows_how_far_it_is_and_is_not_started_twice(page, profile):
    planted(profile, ready=False)
    drawn(page)
    assert "starting (" in words(page)
    assert page.get("progress")
    assert page.button(key="start").disabled
    assert "1 engine: 1 starting" in words(page)


def test_a_held_engine_cannot_be_ended_and_links_to_its_run(page, profile):
    engine = planted(profile, ready=True)
    with RunStore().create("quick", {"arms": ["base"]}, {}) as run:
        with Fleet().lock(engine, run.id):
            drawn(page)
            assert f"up, held by {run.id}" in words(page)
            assert "serves base and prefix" in words(page)
            asks = {ask.proto.popover.label: ask.proto.popover for ask in page.get("popover")}
            assert asks["End"].disabled
            assert run.id in asks["End"].help
            assert asks["End all that nobody holds"].disabled
            (link,) = page.get("page_link")
            assert link.proto.query_string == f"run_id={run.id}"
        run.finish("done", "")
    drawn(page)
    assert "up and free" in words(page)
    assert not page.get("page_link")


def test_an_engine_is_started_and_ended_for_real(page, profile):
    page.selectbox(key="start_arm").select("spec").run()
    page.button(key="start").click().run()
    assert page.button(key="start").disabled
    until(page, lambda: "up and free" in words(page))
    (engine,) = Fleet().ps()
    assert (engine.plan.arm, engine.alive) == ("spec", True)
    assert f"{engine.base_url}/v1" in words(page)
    assert str(engine.processes[0].pid) in words(page)
    page.button(key=f"end_{engine.id}").click().run()
    until(page, lambda: not Fleet().ps())
    until(page, lambda: "No engine is up" in words(page))


def test_a_start_that_fails_is_told_in_the_engines_words_with_its_log(page, machine):
    (machine / "fake" / "bin" / "vllm").write_text("#!/bin/sh\necho 'ValueError: no such device' >&2\nexit 1\n")
    page.button(key="start").click().run()
    until(page, lambda: "did not start" in words(page))
    assert "**base** did not start" in words(page)
    assert "no such device" in words(page)
    assert not page.button(key="start").disabled
    page.segmented_control(key="view").set_value("Logs").run()
    assert "ended or refused, last word" in words(page)
    assert "ValueError: no such device" in page.code[0].value


def test_what_a_crash_left_is_offered_for_ending_and_its_log_can_be_read(page):
    engine = up(plan_of(tiny("engine")))
    os.kill(engine.processes[0].pid, 9)
    until(page, lambda: "dead: engine ended" in words(page))
    page.button(key=f"logs_{engine.id}").click().run()
    drawn(page)
    assert page.segmented_control(key="view").value == "Logs"
    assert page.selectbox(key="engine").value == engine.id
    assert page.code[0].value == "starting"
    page.segmented_control(key="view").set_value("Fleet").run()
    page.button(key="end_remains").click().run()
    until(page, lambda: not Fleet().ps())


def test_logs_are_filtered_and_stand_still_when_asked(page):
    engine = up(plan_of(tiny("engine")))
    log = Path(engine.processes[0].log)
    log.write_text("INFO one\nERROR two\nWARNING three\n")
    page.segmented_control(key="view").set_value("Logs").run()
    assert page.code[0].value.splitlines() == ["INFO one", "ERROR two", "WARNING three"]
    assert "1 error line · 1 warning" in words(page)
    page.segmented_control(key="level").set_value("errors").run()
    assert page.code[0].value == "ERROR two"
    page.toggle(key="follow").set_value(False)
    drawn(page)
    log.write_text("")
    drawn(page)
    assert page.code[0].value == "Nothing of this level."


def test_without_any_log_the_page_says_so(page):
    page.segmented_control(key="view").set_value("Logs").run()
    assert "No engine has left a log yet" in words(page)


def test_plans_of_every_profile_are_shown_with_what_differs(page, monkeypatch):
    monkeypatch.setattr(loaders, "profiles", lambda: ["cpu-smollm2", "mi300x-8-qwen3-235b"])
    page.segmented_control(key="view").set_value("Plans").run()
    assert "Only prefix caching differs" in words(page)
    assert "--enable-prefix-caching" in words(page)
    page.selectbox(key="profile").select("mi300x-8-qwen3-235b").run()
    page.selectbox(key="arm").select("all").run()
    page.selectbox(key="method").select("ngram").run()
    assert not page.exception
    said = words(page)
    assert "HIP_VISIBLE_DEVICES=0,1,2,3" in said
    assert "MoRIIOConnector" in said
    assert '"method":"ngram"' in said
    assert "Only prefix caching and the prefill/decode split and speculation differ" in said
    assert "labkit plan --profile mi300x-8-qwen3-235b --arm all --spec-method ngram --diff base" in said
    page.toggle(key="salted").set_value(True).run()
    assert "--salted" in words(page)


def test_an_address_names_the_view_and_the_plan(app, profile):
    app.run()
    app.query_params.update({"view": "Plans", "arm": "pd", "against": "spec"})
    app.switch_page(PAGE)
    drawn(app)
    assert "spec and pd: what differs?" in words(app)
