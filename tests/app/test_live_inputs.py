"""The Live page's inputs keep what they were told, and its toggles never lie: in two tabs, after a reload, refused."""

from __future__ import annotations

import time

import loaders
import pytest
from run_folders import ended, write
from synthetic import recording, steps

from labkit.core.arms import Arm
from labkit.core.errors import LabError
from labkit.experiments import jobs, steering
from labkit.store.runs import RunStore, RunWriter
from labkit.traffic.recording import save

LAYERS = ("prefix_caching", "pd_split", "speculation")


def run(app):
    app.run()
    assert not app.exception
    return app


def toggles(app) -> list[str]:
    """The layers that are on."""
    return [layer for layer in LAYERS if app.toggle(key=layer).value]


@pytest.fixture
def long(machine) -> None:
    """A second recording, of ten steps."""
    save(recording("long", turns=10), machine / "data" / "recordings" / "long.jsonl")
    loaders.recordings.clear()


@pytest.fixture
def live():
    """A live run that goes on, planned for base and then prefix, and the job that it is of."""
    asked = {"profile": "cpu-smollm2", "recording": "tiny", "arms": ["base", "prefix"]}
    with RunStore().create("live", asked, {}) as writer:
        writer.event("serving", arm="base", repeat=0)
        writer.event("switch", arm="base", was="", waited_s=1.0, warm=False)
        yield writer, going_on(writer, asked)


def going_on(writer: RunWriter, asked: dict) -> jobs.Job:
    """This process as a job."""
    job = jobs.enlist("live", asked)
    jobs.claim(job.id, writer.folder)
    return job


def test_another_recording_keeps_the_steps_that_were_asked_for(app, long):
    run(app)
    app.selectbox(key="work_recording").select("long")
    run(app)
    assert app.slider(key="steps").value == 6
    app.slider(key="steps").set_value(8)
    run(app)
    app.selectbox(key="work_recording").select("tiny")
    run(app)
    assert app.slider(key="steps").value == 4
    app.selectbox(key="work_recording").select("long")
    run(app)
    assert app.slider(key="steps").value == 8
    assert any("**Run**: 8 steps of long" in text.value for text in app.caption)


def test_one_step_is_one(app):
    run(app)
    app.slider(key="steps").set_value(1)
    run(app)
    assert any("**Run**: 1 step of tiny" in text.value for text in app.caption)


def test_steps_and_base_outlive_a_look_at_another_page(app):
    run(app)
    app.slider(key="steps").set_value(3)
    app.checkbox(key="compare").set_value(False)
    run(app)
    run(app.switch_page("app_pages/compare.py"))
    run(app.switch_page("app_pages/live.py"))
    assert app.slider(key="steps").value == 3
    assert not app.checkbox(key="compare").value


def test_a_profile_that_is_looked_at_elsewhere_is_not_run(app):
    run(app)
    before = app.selectbox(key="run_profile").value
    other = next(name for name in loaders.profiles() if name != before)
    app.session_state["profile"] = other  # what Doctor and Plans choose
    run(app)
    assert app.selectbox(key="run_profile").value == before


def test_during_the_lap_under_base_the_toggles_mean_the_arm_that_comes(app, live):
    run(app)
    assert toggles(app) == ["prefix_caching"]
    assert app.button(key="run").disabled


def test_a_wish_of_another_tab_is_followed(app, live):
    _, job = live
    run(app)
    steering.ask(job.id, Arm(speculation=True))
    run(app)
    assert toggles(app) == ["speculation"]


def test_a_flip_keeps_what_another_tab_asked_for_meanwhile(app, live):
    _, job = live
    run(app)
    steering.ask(job.id, Arm(prefix_caching=True, speculation=True))
    app.toggle(key="prefix_caching").set_value(False)
    run(app)
    assert steering.newest(job.id) == "spec"
    assert toggles(app) == ["speculation"]


def test_a_refused_wish_takes_its_toggle_back(app, live):
    writer, job = live
    run(app)
    app.toggle(key="pd_split").set_value(True)
    run(app)
    assert steering.newest(job.id) == "prefix+pd"
    assert toggles(app) == ["prefix_caching", "pd_split"]
    writer.event("steer", arm="prefix+pd")
    run(app)
    assert toggles(app) == ["prefix_caching", "pd_split"]
    writer.event("refused", arm="prefix+pd", repeat=0, message="no such connector", hint="", log_tail=[])
    run(app)
    assert toggles(app) == []


def test_after_a_reload_the_toggles_mean_the_run_that_is_shown(app):
    ended(steps(("base", "prefix+spec")))
    run(app)
    assert toggles(app) == ["prefix_caching", "speculation"]


def test_run_looks_again_before_it_starts_a_second_job(app):
    run(app)
    writer = write(RunStore().create("live", {"arms": ["base"]}, {}), steps(("base",)))
    mine = going_on(writer, {"arms": ["base"]})
    app.button(key="run").click()
    run(app)
    assert "A run goes on already" in app.error[0].value
    assert [job.id for job in jobs.jobs()] == [mine.id]
    writer.finish("done", "")


def test_stop_is_for_the_job_that_goes_on_not_for_the_newest(app, live):
    _, mine = live
    time.sleep(1.1)  # ids order jobs to the second
    over = write(RunStore().create("live", {"arms": ["base"]}, {}), steps(("base",)))
    newest = going_on(over, {"arms": ["base"]})
    over.finish("done", "")
    assert jobs.jobs()[0].id == newest.id
    run(app)
    assert app.button(key="run").disabled
    assert not app.button(key="stop").disabled
    assert loaders.current_job().job.id == mine.id


def test_what_is_refused_inside_a_fragment_is_said_there(app, monkeypatch):
    def refuse():
        raise LabError("no registry", "Free the disk.")

    monkeypatch.setattr(loaders, "holders", refuse)
    run(app)
    assert "no registry" in app.error[0].value
    assert not app.button(key="run").disabled


def test_nobody_ends_engines_with_one_click(app):
    run(app)
    assert app.button(key="end").disabled
    assert "Yes" in app.button(key="end").label
