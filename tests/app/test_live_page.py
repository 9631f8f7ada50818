"""The live page on an empty store, with runs of every end, and with toggles: no exception, and the words are true."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import loaders
import loaders.live as live_loaders
import pytest
from run_folders import ended, started, write
from synthetic import failed, step, steps

from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine, Registry
from labkit.engines.starting import this_process
from labkit.experiments import jobs
from labkit.experiments.fleet_provider import FleetProvider
from labkit.store.runs import RunStore

TASKS = Path(__file__).parents[2] / "data" / "tasks"


def run(app):
    app.run()
    assert not app.exception
    return app


def words(app) -> str:
    """Everything that is written on the page."""
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "code")
    said = "\n".join(element.value for kind in kinds for element in getattr(app, kind))
    return re.sub(r"\\(?=[^\w\s])|\N{WORD JOINER}", "", said)  # what Markdown and Streamlit show of it


def figures(app) -> dict[str, dict]:
    """The drawings by title. AppTest has no element for charts: the spec is read from the message."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return {spec["layout"]["title"]["text"]: spec for spec in specs}


def press(app, *layers: str) -> None:
    """Leave exactly these toggles on; prefix caching is on at first."""
    for key in ("prefix_caching", "pd_split", "speculation"):
        app.toggle(key=key).set_value(key in layers)


def open_tab(app, name: str):
    """The page with this tab of figures open."""
    app.session_state["details"] = name
    return run(app)


def in_fleet(label: str, *, ready: bool = True) -> Engine:
    """An engine of this arm whose processes are this one: alive, registered, and never spoken to."""
    plan = make_plan(load_profile("cpu-smollm2"), arm_named(label), salted=True)
    running = tuple(dataclasses.replace(this_process(), role=spec.role) for spec in plan.layout)
    engine = Engine(id=f"e.{label}", plan=plan, processes=running, owner=this_process(), ready=ready)
    Registry(Fleet().state_dir).write(engine)
    return engine


def test_an_empty_store_says_what_to_do(app):
    run(app)
    assert "Press **Run**" in words(app)
    assert "base first, then prefix" in words(app)  # Run at once teaches what prefix caching does
    assert not app.button(key="run").disabled
    assert app.button(key="stop").disabled
    assert not figures(app)


def test_without_a_recording_there_is_nothing_to_run(app, machine):
    (machine / "data" / "recordings" / "tiny.jsonl").unlink()
    run(app)
    assert "labkit record" in words(app)
    assert not app.button


@pytest.mark.parametrize(
    ("toggles", "arm"),
    [((), "base"), (("prefix_caching",), "prefix"), (("prefix_caching", "speculation"), "prefix+spec"),
     (("prefix_caching", "pd_split", "speculation"), "all")],
)  # fmt: skip
def test_toggles_change_the_arm_and_its_state(app, toggles, arm):
    run(app)
    press(app, *toggles)
    run(app)
    assert f"**{arm}** :gray[:material/ac_unit: cold (starts in ~" in words(app)
    assert f"--arms {arm if arm == 'base' else 'base,' + arm}" in words(app)


def test_without_base_only_the_arm_is_asked_for(app):
    run(app)
    press(app, "speculation")
    run(app)
    app.checkbox(key="compare").set_value(False)
    run(app)
    assert "--arms spec " in words(app)
    assert "**base**" not in words(app)


def test_base_is_not_measured_beside_itself(app):
    run(app)
    press(app)
    run(app)
    assert app.checkbox(key="compare_base").disabled
    assert not app.checkbox(key="compare_base").value


def test_a_warm_engine_is_called_warm_and_shared_by_salt(app):
    in_fleet("prefix")
    run(app)
    assert words(app).count(":material/check_circle: warm]") == 2
    assert "base runs on an engine that can cache prefixes, and reuses none there." in words(app)
    assert "cache_salt" not in words(app)  # that is for the Engines page


def test_a_held_engine_is_called_busy_with_its_holder(app):
    engine = in_fleet("prefix")
    with Fleet().lock(engine, "run 7f3a"):
        run(app)
        assert "busy: held by run 7f3a" in words(app)
        assert app.button(key="run").disabled
        assert "Run waits: base is busy: held by run 7f3a; prefix is busy: held by run 7f3a." in words(app)
        assert app.button(key="end").disabled
        assert "run 7f3a" in app.button(key="end").help
    run(app)
    assert not app.button(key="run").disabled
    assert not app.button(key="end").disabled
    assert "Run waits" not in words(app)
    assert ":material/check_circle: warm" in words(app)


def test_an_engine_of_another_arm_that_is_held_leaves_run_free_and_cannot_be_ended(app):
    with Fleet().lock(in_fleet("spec"), "run 7f3a"):
        run(app)
        assert not app.button(key="run").disabled
        assert app.button(key="end").disabled


def test_a_start_is_called_a_start(app):
    in_fleet("prefix", ready=False)
    run(app)
    assert "starting (" in words(app)


def test_a_finished_run_is_drawn_against_base(app):
    ended(steps(("base", "prefix+spec"), turns=4))
    run(app)
    overview = next(spec for title, spec in figures(app).items() if "less time than base" in title)
    assert overview["data"][0]["y"] == ["base", "prefix+spec"]
    open_tab(app, "Table")
    table = app.dataframe[0].value
    assert list(table["arm"]) == ["base", "prefix+spec"]
    assert table["tpot_p50_s"][0] == pytest.approx(1000 * 2 / 19)  # shown in ms
    assert table["ratio_to_base"][1] == pytest.approx((0.6 + 0.8 + 1.0 + 1.2 + 8) / (0.6 + 0.2 + 0.208 + 0.216 + 4))


@pytest.mark.parametrize(("tab", "count"), [("Arms", 3), ("Turns", 3), ("Cache", 2), ("Drafts", 2), ("Table", 1)])
def test_every_chart_can_be_read_aloud_and_only_the_open_tabs_are_made(app, tab, count):
    ended(steps(("base", "prefix")))
    run(app)
    open_tab(app, tab)
    assert len(app.get("plotly_chart")) == count  # the lanes, and those of the tab
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))


def test_a_failed_run_says_why_and_draws_sentences(app):
    ended([failed("base", 1)], "failed", "base not measured: all 1 requests failed", arms=["base", "prefix"])
    run(app)
    assert "failed" in words(app)
    assert "all 1 requests failed" in words(app)
    assert "Prefix caching made" not in words(app)
    assert not [spec for title, spec in figures(app).items() if "less time" in title and spec["data"]]


def test_a_stopped_run_keeps_what_it_has(app):
    ended(steps(("base",), turns=2), "cancelled", "stopped by the user", arms=["base", "prefix"])
    run(app)
    assert "stopped by the user" in words(app)
    assert "2 steps under base so far, and nothing to compare with" in words(app)
    open_tab(app, "Table")
    assert app.dataframe[0].value["n_steps"][0] == 2


def lost(arm: str, kind: str = "refused", *, served: bool = False) -> None:
    """A run whose engine of this arm was refused or died, in the store."""
    provider = FleetProvider(Fleet(), load_profile("cpu-smollm2"))
    engines = {provider.plan(arm_named(label)).key: {} for label in ("base", arm)}
    asked = {"profile": "cpu-smollm2", "recording": "tiny", "arms": ["base", arm]}
    writer = write(RunStore().create("replay", asked, {"engines": engines}), steps(("base",)))
    if served:
        writer.event("serving", arm=arm, repeat=0)
    writer.event(kind, arm=arm, repeat=0, message="no such connector", hint="", log_tail=["ValueError: nixl"])
    writer.finish("partial", f"{arm} not measured")


def choose(app, *toggles: str) -> str:
    """What is written on the page with these toggles on."""
    run(app)
    press(app, *toggles)
    return words(run(app))


def test_a_refused_arm_is_told_in_the_engines_words_with_its_log(app):
    lost("pd")
    said = choose(app, "pd_split")
    assert "refused: no such connector" in said
    assert "ValueError: nixl" in said


def test_arms_that_share_an_engine_are_refused_together(app):
    lost("prefix")
    assert choose(app, "prefix_caching").count("refused: no such connector") == 2


@pytest.mark.parametrize(("kind", "served"), [("engine_died", False), ("refused", True)])
def test_a_death_is_told_beside_its_run_and_is_no_refusal(app, kind, served):
    lost("pd", kind, served=served)
    said = choose(app, "pd_split")
    assert "refused" not in said
    assert "ValueError: nixl" in said


def test_a_refusal_is_forgotten_when_a_newer_run_had_none(app):
    lost("pd")
    time.sleep(1.1)  # ids order runs to the second
    ended(steps(("base",)))
    assert "refused" not in choose(app, "pd_split")


def test_another_profiles_newer_run_does_not_hide_a_refusal(app):
    lost("pd")
    time.sleep(1.1)
    ended(steps(("base",)), profile="another")
    assert "refused: no such connector" in choose(app, "pd_split")


def test_a_run_that_goes_on_shows_how_far_it_is_and_what_it_has(app):
    with started(["base", "prefix"]) as writer:
        write(writer, steps(("base",), turns=2))
        writer.event("progress", stage="measuring base", message="turn 2", done=2, total=8, eta_s=33.0)
        run(app)
        bar = app.get("progress")[0].proto
        assert bar.value == 25
        assert bar.text == "2/8 measuring base: turn 2, about 33 s left"
        open_tab(app, "Table")
        assert app.dataframe[0].value["n_steps"][0] == 2


def test_an_older_run_can_be_picked(app):
    first = ended(steps(("base",), turns=1))
    ended(steps(("base",), turns=3))
    run(app)
    app.selectbox(key="run_id").select(first)
    run(app)
    assert "1 step measured, 0 failed" in words(app)
    open_tab(app, "Table")
    assert app.dataframe[0].value["n_steps"][0] == 1


def tiles(app) -> dict[str, tuple[str, str]]:
    """Label to value and change."""
    return {tile.label.split(" (")[0]: (tile.value, tile.delta) for tile in app.metric}


def live_run(*planned: str, **asked):
    """A live run that goes on, as the experiment writes it."""
    params = {"profile": "cpu-smollm2", "recording": "tiny", "arms": list(planned), "steps": 6, "agents": 1, **asked}
    return RunStore().create("live", params, {})


SENT = {"agent": "a1", "kind": "act", "recording": "", "task": "t1", "repeat": 0, "condition": ""}


def test_the_finding_stands_in_words_above_the_tiles_and_the_lanes(app):
    ended(steps(("base", "prefix"), turns=6))
    run(app)
    assert "Prefix caching made these 6 steps 1." in words(app)
    assert "): a first look, one pass." in words(app)
    assert tiles(app)["Cache hit rate"][0] == "75 %"
    assert tiles(app)["Tokens a round"] == ("–", "")
    assert any("each arm take" in title for title in figures(app))


def test_lanes_can_be_put_on_the_runs_own_clock(app):
    ended(steps(("base", "prefix"), turns=6))
    run(app)
    app.button_group(key="clock").set_value("run")
    run(app)
    lanes = next(spec for title, spec in figures(app).items() if "second by second" in title)
    assert lanes["layout"]["yaxis"]["ticktext"] == ["agent a1"]


def test_a_live_run_shows_what_is_under_way_and_where_the_next_steps_go(app):
    with live_run("base", "prefix") as writer:
        writer.event("serving", arm="base", repeat=0)
        writer.event("switch", arm="base", was="", waited_s=20.0, warm=False)
        write(writer, steps(("base",), turns=2))
        writer.event("switch", arm="prefix", was="base", waited_s=0.02, warm=True)
        writer.event("sent", **{**SENT, "turn": 1, "arm": "prefix"})
        run(app)
        assert "next steps: prefix (warm)" in words(app)
        lanes = next(spec for title, spec in figures(app).items() if "second by second" in title)
        assert "under way" in [trace.get("name") for trace in lanes["data"]]


def test_a_cold_wish_says_that_agents_wait(app):
    with live_run("base") as writer:
        writer.event("serving", arm="base", repeat=0)
        write(writer, steps(("base",), turns=2))
        writer.event("steer", arm="spec")
        writer.event("progress", stage="starting spec", message="starting (12 s of ~30 s): engine")
        run(app)
        assert "starting spec: engine, 12 s of ~30 s; agents wait" in words(app)


def test_a_refused_wish_is_told_and_the_run_goes_on(app):
    with live_run("base") as writer:
        writer.event("serving", arm="base", repeat=0)
        write(writer, steps(("base",), turns=2))
        writer.event("steer", arm="pd")
        writer.event("refused", arm="pd", repeat=0, message="no such connector", hint="", log_tail=[])
        run(app)
        assert "pd refused: no such connector; the run goes on under base" in words(app)


def test_a_live_run_without_a_step_shows_no_empty_figures(app):
    with live_run("base") as writer:
        writer.event("progress", stage="starting base", message="starting (3 s of ~30 s): engine")
        run(app)
        assert "starting base: engine, 3 s of \\~30 s" in app.get("progress")[0].proto.text
        assert len(figures(app)) == 1  # the lanes, which say what will be there
        assert not app.metric


def test_two_runs_of_flip_and_repeat_are_drawn_together(app):
    first = ended(steps(("prefix",), turns=6))
    writer = write(live_run("prefix+spec", beside=first), steps(("prefix+spec",), turns=6))
    writer.finish("done", "")
    run(app)
    assert "Adding speculation to prefix made these 6 steps" in words(app)
    lanes = next(spec for title, spec in figures(app).items() if "each arm take" in title)
    labels = lanes["layout"]["yaxis"]["ticktext"]
    assert [label.split("<br>")[0] for label in labels] == ["prefix", "prefix+spec"]
    assert first.rsplit("-", 1)[-1] in labels[0]
    assert tiles(app)["Whole step"][1].startswith("-")


def test_two_runs_are_compared_once_for_each_state_of_both(app, monkeypatch):
    worked_out = []

    def noted(name, work):
        return lambda *asked: worked_out.append(name) or work(*asked)

    for name in ("findings", "tiles"):
        monkeypatch.setattr(live_loaders, name, noted(name, getattr(live_loaders, name)))
    first = ended(steps(("prefix",)))
    write(live_run("prefix+spec", beside=first), steps(("prefix+spec",))).finish("done", "")
    run(app)
    run(app)
    assert sorted(worked_out) == ["findings", "tiles"]


def test_while_a_repeat_of_a_longer_run_goes_on_its_own_last_minute_is_shown(app):
    first = ended([step("prefix", turn, t=100.0 * turn) for turn in range(1, 9)])
    with live_run("base", beside=first) as writer:
        write(writer, [step("base", turn, t=25.0 * turn) for turn in range(1, 7)])
        run(app)
        lanes = next(spec for title, spec in figures(app).items() if "second by second" in title)
        start, end = lanes["layout"]["xaxis"]["range"]
        assert 120 < end < 150  # the first step of the repeat left at 25 s, its last one ended before 155 s
        assert end - start == pytest.approx(60)


def test_a_run_beside_that_is_gone_leaves_the_own(app):
    writer = write(live_run("prefix", beside="20200101T000000Z-live-000000"), steps(("prefix",), turns=6))
    writer.finish("done", "")
    run(app)
    assert "6 steps under prefix so far" in words(app)


def test_flip_and_repeat_waits_for_a_flip(app):
    ended(steps(("base", "prefix"), turns=6))
    run(app)
    assert app.button(key="flip").disabled
    press(app, "speculation")
    run(app)
    assert not app.button(key="flip").disabled
    assert app.button(key="flip").label == "Repeat these steps under spec"


def test_flip_and_repeat_is_not_offered_where_nothing_can_be_repeated(app):
    ended(steps(("base", "prefix")), recording=None, recordings=["a", "b"])
    run(app)
    assert "flip" not in [button.key for button in app.button]


def test_an_agent_run_without_an_engine_is_shown_too(app):
    script = [dataclasses.replace(made, arm="none", engine="none", cached_tokens=None) for made in steps(("base",))]
    ended(script, arms=["none"])
    run(app)
    assert "4 steps under none so far" in words(app)


def test_a_task_for_live_agents_can_be_chosen(app, machine):
    shutil.copytree(TASKS / "wide-letters", machine / "data" / "tasks" / "wide-letters")
    run(app)
    app.button_group(key="work").set_value("Live agents at a task")
    run(app)
    assert app.selectbox(key="work_task").options == ["wide-letters"]
    assert "--task wide-letters" in words(app)
    assert "**Run**: wide-letters, up to 6 steps by 1 agent" in words(app)
    assert not app.button(key="run").disabled


def test_without_a_task_live_agents_have_nothing_to_do(app):
    run(app)
    app.button_group(key="work").set_value("Live agents at a task")
    run(app)
    assert "No task is there for live agents" in words(app)
    assert "None" not in words(app)
    assert app.button(key="run").disabled


def test_laps_agents_and_steps_stand_in_the_command(app):
    run(app)
    app.selectbox(key="laps").select(0)
    app.number_input(key="agents").set_value(3)
    app.slider(key="steps").set_value(2)
    run(app)
    assert "--agents 3" in words(app)
    assert "--steps 2" in words(app)
    assert "--laps 0" in words(app)
    assert "2 steps of tiny by 3 agents at once on cpu-smollm2: base first, then prefix" in words(app)


def over(monkeypatch, state: str, printed: str, job_id: str = "20990101T000000Z-live-0") -> None:
    """A job that ended before there was a run."""
    gone = dataclasses.replace(this_process(), created=0.0)
    job = jobs.Job(id=job_id, experiment="live", params={}, created="", process=gone)
    status = jobs.JobStatus(job=job, state=state, log_tail=[printed])
    monkeypatch.setattr(loaders, "current_job", lambda: status)


def test_a_job_that_dies_at_once_shows_what_it_printed(app, monkeypatch):
    over(monkeypatch, "failed", "error: no such profile")
    run(app)
    assert "ended before it had begun" in app.error[0].value
    assert "error: no such profile" in words(app)
    assert not app.button(key="run").disabled


def test_a_job_that_was_stopped_at_once_did_not_crash(app, monkeypatch):
    over(monkeypatch, "cancelled", "KeyboardInterrupt")
    run(app)
    assert "The run was stopped before it had begun." in words(app)
    assert "KeyboardInterrupt" not in words(app)
    assert not app.error


def test_what_failed_before_a_newer_run_is_not_told_beside_an_older_one(app, monkeypatch):
    older = ended(steps(("base",)))
    time.sleep(1.1)  # ids order runs to the second
    job_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-live-000000"
    time.sleep(1.1)
    ended(steps(("base",)))
    over(monkeypatch, "failed", "error: no such profile", job_id)
    app.query_params["run_id"] = older
    run(app)
    assert not app.error
