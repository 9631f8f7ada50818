"""Run and Stop for real: the page's job is a process, its engines are processes, only the model is a fake."""

from __future__ import annotations

import os
import time

import fake_vllm
import loaders
import pytest
from synthetic import recording

from labkit.engines.fleet import Fleet
from labkit.experiments import jobs
from labkit.traffic.recording import save


@pytest.fixture
def page(app, machine, monkeypatch):
    """The page with one profile, whose `vllm` is the fake; whatever is up at the end is ended."""
    profile, path = fake_vllm.install(machine / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(loaders, "profiles", lambda: [str(profile)])
    app.run()
    yield app
    for job in jobs.jobs():
        jobs.cancel(job.id)
    Fleet().down()


def until(app, happened, seconds: float = 30.0) -> None:
    """Rerun the page, as its fragments would, until it shows what it should."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, app
        time.sleep(0.2)
        app.run()
        assert not app.exception


def newest():
    return jobs.status(jobs.jobs()[0].id)


def test_run_measures_both_arms_and_leaves_the_arm_warm(page):
    page.slider(key="steps").set_value(3).run()
    page.button(key="run").click().run()
    assert page.button(key="run").disabled
    assert not page.button(key="stop").disabled
    until(page, lambda: newest().state == "done" and not page.button(key="run").disabled)
    page.session_state["details"] = "Table"
    page.run()
    table = page.dataframe[0].value.set_index("arm")
    assert dict(table["n_steps"]) == {"base": 3, "prefix": 3}
    assert table["hit_rate"]["base"] == 0
    assert table["hit_rate"]["prefix"] == pytest.approx(table["hit_ceiling"]["prefix"])
    assert sum("warm" in text.value for text in page.markdown) == 2


def test_stop_ends_the_run_and_keeps_what_it_has(page, machine):
    save(recording("tiny", turns=300), machine / "data" / "recordings" / "tiny.jsonl")
    loaders.turns_of.clear()
    page.slider(key="steps").set_value(4)
    page.run()
    page.slider(key="steps").set_value(300).run()
    page.button(key="run").click().run()
    until(page, lambda: newest().run is not None and len(newest().run.steps()) > 3)
    page.run()
    page.button(key="stop").click().run()
    until(page, lambda: not page.button(key="run").disabled)
    assert newest().state == "cancelled"
    page.session_state["details"] = "Table"
    page.run()
    assert page.dataframe[0].value["n_steps"][0] > 0
    assert not [engine for engine in Fleet().ps() if engine.alive]


def test_a_recording_that_cannot_be_read_is_refused_before_there_is_a_job(page, machine):
    save(recording("tiny"), machine / "data" / "recordings" / "other.jsonl")
    loaders.recordings.clear()
    page.run()
    page.selectbox(key="work_recording").select("other").run()
    (machine / "data" / "recordings" / "other.jsonl").write_text("not a recording")
    page.button(key="run").click().run()
    assert not page.exception
    assert "other.jsonl" in page.error[0].value
    assert not page.button(key="run").disabled
    assert not jobs.jobs()


def test_an_engine_is_started_ahead_of_a_run_and_ended(page):
    page.toggle(key="prefix_caching").set_value(False)
    page.toggle(key="speculation").set_value(True).run()
    page.button(key="warm").click().run()
    assert page.button(key="warm").disabled
    until(page, lambda: any("**spec**" in text.value and "warm]" in text.value for text in page.markdown))
    assert [engine.plan.arm for engine in Fleet().ps() if engine.alive] == ["spec"]
    page.button(key="end").click().run()
    until(page, lambda: any("**spec**" in text.value and "cold" in text.value for text in page.markdown))
    until(page, lambda: not Fleet().ps())


def test_an_engine_that_does_not_start_says_why(page, machine):
    (machine / "fake" / "bin" / "vllm").write_text("#!/bin/sh\necho 'ValueError: no such device' >&2\nexit 1\n")
    page.button(key="warm").click().run()
    until(page, lambda: any("refused: " in text.value for text in page.markdown))
    assert "ValueError: no such device" in "\n".join(text.value for text in page.markdown)
    assert not page.button(key="warm").disabled


def served(run) -> list[str]:
    """The arms that served, step by step."""
    steps = run.steps()
    return list(steps[~steps["warmup"]].sort_values("t_send")["arm"])


def test_a_toggle_steers_the_run_that_goes_on_from_its_next_step(page, machine):
    save(recording("tiny", turns=300), machine / "data" / "recordings" / "tiny.jsonl")
    loaders.turns_of.clear()
    page.slider(key="steps").set_value(4)
    page.run()
    page.slider(key="steps").set_value(300)
    page.checkbox(key="compare").set_value(False).run()
    page.button(key="run").click().run()
    until(page, lambda: newest().run is not None and len(served(newest().run)) > 3)
    page.run()
    page.toggle(key="prefix_caching").set_value(False).run()
    until(page, lambda: served(newest().run)[-1] == "base")
    [*_, switch] = [event for event in newest().run.events() if event["type"] == "switch"]
    assert (switch["arm"], switch["was"], switch["warm"]) == ("base", "prefix", True)
    assert switch["waited_s"] < 2
    page.run()
    assert any("next steps: base (warm)" in text.value for text in page.markdown)
    page.button(key="stop").click().run()
    until(page, lambda: not page.button(key="run").disabled)
    assert any("after a toggle" in text.value for text in page.caption)
    assert [served(newest().run)[0], served(newest().run)[-1]] == ["prefix", "base"]


def test_flip_and_repeat_asks_the_same_under_the_other_arm_and_shows_both(page):
    page.slider(key="steps").set_value(3)
    page.checkbox(key="compare").set_value(False).run()
    page.button(key="run").click().run()
    until(page, lambda: newest().state == "done" and not page.button(key="run").disabled)
    first = newest().run.id
    page.toggle(key="speculation").set_value(True).run()
    page.button(key="flip").click().run()
    until(page, lambda: newest().state == "done" and newest().run.id != first and not page.button(key="run").disabled)
    page.run()
    assert newest().run.info.asked["beside"] == first
    assert served(newest().run) == ["prefix+spec"] * 3
    assert any("dding speculation to prefix" in text.value for text in page.markdown)
