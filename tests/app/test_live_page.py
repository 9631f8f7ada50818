"""The live page on an empty store, with runs of every end, and with toggles: no exception, and the words are true."""

from __future__ import annotations

import dataclasses
import json

import pytest
from run_folders import ended, started, write
from synthetic import failed, steps

from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine, Registry
from labkit.engines.starting import this_process


def run(app):
    app.run()
    assert not app.exception
    return app


def words(app) -> str:
    """Everything that is written on the page."""
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "code")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind))


def figures(app) -> dict[str, dict]:
    """The drawings by title. AppTest has no element for charts: the spec is read from the message."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return {spec["layout"]["title"]["text"]: spec for spec in specs}


def in_fleet(label: str, *, ready: bool = True) -> Engine:
    """An engine of this arm whose processes are this one: alive, registered, and never spoken to."""
    plan = make_plan(load_profile("cpu-smollm2"), arm_named(label), salted=True)
    running = tuple(dataclasses.replace(this_process(), role=spec.role) for spec in plan.layout)
    engine = Engine(id=f"e.{label}", plan=plan, processes=running, owner=this_process(), ready=ready)
    Registry(Fleet().state_dir).write(engine)
    return engine


def test_an_empty_store_says_what_to_do(app):
    run(app)
    assert "press **Run**" in words(app)
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
    for key in toggles:
        app.toggle(key=key).set_value(True)
    run(app)
    assert f"**{arm}** :gray[:material/ac_unit: cold (starts in ~" in words(app)
    assert f"--arms {arm if arm == 'base' else 'base,' + arm}" in words(app)


def test_without_base_only_the_arm_is_asked_for(app):
    run(app)
    app.toggle(key="speculation").set_value(True)
    app.checkbox(key="compare").set_value(False)
    run(app)
    assert "--arms spec " in words(app)
    assert "**base**" not in words(app)


def test_a_warm_engine_is_called_warm_and_shared_by_salt(app):
    in_fleet("prefix")
    run(app)
    app.toggle(key="prefix_caching").set_value(True)
    run(app)
    assert words(app).count(":material/check_circle: warm]") == 2
    assert "cache_salt" in words(app)


def test_a_held_engine_is_called_busy_with_its_holder(app):
    engine = in_fleet("prefix")
    with Fleet().lock(engine, "run 7f3a"):
        run(app)
        assert "busy: held by run 7f3a" in words(app)
    run(app)
    assert ":material/check_circle: warm" in words(app)


def test_a_start_is_called_a_start(app):
    in_fleet("prefix", ready=False)
    run(app)
    assert "starting (" in words(app)


def test_a_finished_run_is_drawn_against_base(app):
    ended(steps(("base", "prefix+spec"), turns=4))
    run(app)
    drawn = figures(app)
    assert len(drawn) == 6
    overview = next(spec for title, spec in drawn.items() if "less time than base" in title)
    assert overview["data"][0]["y"] == ["base", "prefix+spec"]
    table = app.dataframe[0].value
    assert list(table["arm"]) == ["base", "prefix+spec"]
    assert table["ratio_to_base"][1] == pytest.approx((0.6 + 0.8 + 1.0 + 1.2 + 8) / (0.6 + 0.2 + 0.208 + 0.216 + 4))


def test_every_chart_can_be_read_aloud(app):
    ended(steps(("base", "prefix")))
    run(app)
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))


def test_a_failed_run_says_why_and_draws_sentences(app):
    ended([failed("base", 1)], "failed", "base not measured: all 1 requests failed", arms=["base", "prefix"])
    run(app)
    assert "failed" in words(app)
    assert "all 1 requests failed" in words(app)
    assert all(not spec["data"] for spec in figures(app).values())


def test_a_stopped_run_keeps_what_it_has(app):
    ended(steps(("base",), turns=2), "cancelled", "stopped by the user", arms=["base", "prefix"])
    run(app)
    assert "stopped by the user" in words(app)
    assert app.dataframe[0].value["n_steps"][0] == 2


def test_a_refused_arm_is_told_in_the_engines_words_with_its_log(app):
    writer = write(started(["base", "pd"]), steps(("base",)))
    writer.event("refused", arm="pd", repeat=0, message="no such connector", hint="", log_tail=["ValueError: nixl"])
    writer.finish("partial", "pd not measured")
    run(app)
    app.toggle(key="pd_split").set_value(True)
    run(app)
    assert "refused: no such connector" in words(app)
    assert "ValueError: nixl" in words(app)


def test_a_run_that_goes_on_shows_how_far_it_is_and_what_it_has(app):
    with started(["base", "prefix"]) as writer:
        write(writer, steps(("base",), turns=2))
        writer.event("progress", stage="measuring base", message="turn 2", done=2, total=8, eta_s=33.0)
        run(app)
        bar = app.get("progress")[0].proto
        assert bar.value == 25
        assert bar.text == "2/8 measuring base: turn 2, about 33 s left"
        assert app.dataframe[0].value["n_steps"][0] == 2


def test_an_older_run_can_be_picked(app):
    first = ended(steps(("base",), turns=1))
    ended(steps(("base",), turns=3))
    run(app)
    app.selectbox(key="shown").select(first)
    run(app)
    assert app.dataframe[0].value["n_steps"][0] == 1
