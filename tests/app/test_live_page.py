"""The live page on an empty store, with runs of every end, and with toggles: no exception, and the words are true."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest
from run_folders import ended, started, write
from synthetic import failed, steps

from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine, Registry
from labkit.engines.starting import this_process
from labkit.experiments.fleet_provider import FleetProvider
from labkit.store.runs import RunStore


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
    run(app)
    app.checkbox(key="compare").set_value(False)
    run(app)
    assert "--arms spec " in words(app)
    assert "**base**" not in words(app)


def test_base_is_not_measured_beside_itself(app):
    run(app)
    assert app.checkbox(key="compare_base").disabled
    assert not app.checkbox(key="compare_base").value


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
        assert app.button(key="run").disabled
        assert "Run waits: base is busy: held by run 7f3a." in words(app)
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
    drawn = figures(app)
    assert len(drawn) == 6
    overview = next(spec for title, spec in drawn.items() if "less time than base" in title)
    assert overview["data"][0]["y"] == ["base", "prefix+spec"]
    table = app.dataframe[0].value
    assert list(table["arm"]) == ["base", "prefix+spec"]
    assert table["tpot_p50_s"][0] == pytest.approx(1000 * 2 / 19)  # shown in ms
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
    for key in toggles:
        app.toggle(key=key).set_value(True)
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
        assert "running" not in "".join(app.selectbox(key="shown").options)  # a list keeps the words of its first look
        assert app.dataframe[0].value["n_steps"][0] == 2


def test_an_older_run_can_be_picked(app):
    first = ended(steps(("base",), turns=1))
    ended(steps(("base",), turns=3))
    run(app)
    app.selectbox(key="shown").select(first)
    run(app)
    assert "1 step measured, 0 failed" in words(app)
    assert app.dataframe[0].value["n_steps"][0] == 1
