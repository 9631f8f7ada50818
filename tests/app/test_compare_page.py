"""The compare page on every kind of store and run: the words are true, and nothing is drawn that says nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from planted import planted
from run_folders import ended, started, write
from synthetic import failed, steps

from labkit.store.runs import RunStore

DATA = Path(__file__).parents[2] / "data"
ALONE = {"prefix_caching": 2.0}


@pytest.fixture(autouse=True)
def claims(machine):
    """The published claims that come with the project."""
    (machine / "data" / "claims").symlink_to(DATA / "claims")


def page(app, **address):
    app.run()
    app.switch_page("app_pages/compare.py")
    for key, value in address.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def words(app) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind)).replace("\\", "")


def titles(app) -> list[str]:
    specs = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    return [spec["layout"]["title"]["text"].replace("<br>", " ") for spec in specs]


def drawn(app, part: str) -> bool:
    return any(part in title for title in titles(app))


def test_an_empty_store_says_what_to_do(app):
    assert "labkit run quick" in words(page(app))
    assert not app.get("plotly_chart")


def test_a_factorial_shows_gains_interactions_curves_and_what_it_means(app):
    ended(planted(), seed=1)
    said = words(page(app))
    assert "Prefix caching pays: answers came 2.00 times as fast" in said
    for part in (
        "does each layer gain",
        "does an arm gain over base",
        "gains multiply",
        "answered within a",
        "by turn",
    ):
        assert drawn(app, part), part
    assert len(titles(app)) == 9  # with the claims
    assert app.query_params["metric"] == "e2e_s"


def test_the_measure_stands_in_the_address_and_changes_what_is_said(app):
    ended(planted(("base", "prefix"), gains=ALONE, repeats=4), seed=1)
    page(app, metric="ttft_s")
    assert "the first word came 2.00 times as soon" in words(app)
    app.selectbox(key="metric").select("tokens_per_s").run()
    assert "text was written 2.00 times as fast" in words(app)
    assert app.query_params["metric"] == "tokens_per_s"


def test_a_quick_pass_is_too_few_to_tell(app):
    ended(steps(("base", "prefix"), turns=3))
    assert "Too few to tell whether prefix caching pays" in words(page(app))
    assert not drawn(app, "does an arm gain")  # of two arms the layer's gain is the arm's


def test_one_arm_has_curves_and_nothing_to_be_compared_with(app):
    ended(steps(("prefix",), turns=3))
    assert "Only prefix caching was measured" in words(page(app))
    assert len(titles(app)) == 5
    assert not drawn(app, "gain")


def test_a_failed_run_says_why_and_draws_nothing(app):
    ended([], "failed", "no such model")
    assert "The run is failed: no such model." in words(page(app))
    assert not app.get("plotly_chart")


def test_failed_requests_are_counted(app):
    ended([*steps(("base", "prefix"), turns=2), failed("prefix", 3)], "partial", "one failed")
    assert "1 of 5 requests failed" in words(page(app))


def test_a_run_that_goes_on_shows_what_it_has(app):
    with started(["base", "prefix"]) as writer:
        page(app)
        assert "Nothing was measured yet." in words(app)
        write(writer, steps(("base", "prefix"), turns=2))
        app.run()
        assert not app.exception
        assert "The run still goes on" in words(app)


def test_claims_are_drawn_beside_and_can_be_picked(app):
    ended(planted(("base", "prefix"), gains=ALONE), seed=1)
    page(app, metric="ttft_s")
    rows = app.dataframe[0].value
    assert {"prefix", "pd"} == set(rows["layer"])
    assert rows["but"].str.len().min() > 0
    app.button_group(key="claim_layers").select("pd_split")
    app.run()
    assert set(app.dataframe[0].value["layer"]) == {"pd"}


def test_a_lab_without_claims_says_so_and_shows_the_rest(app, machine):
    (machine / "data" / "claims").unlink()
    ended(planted(("base", "prefix"), gains=ALONE), seed=1)
    assert "Published claims cannot be shown" in words(page(app))
    assert drawn(app, "does each layer gain")


def run(name: str, speed: float, fingerprint) -> str:
    """A run of one recording; its id."""
    writer = RunStore().create("replay", {"recordings": ["tiny"], "arms": ["base", "prefix"]}, fingerprint)
    for step in planted(("base", "prefix"), repeats=4, gains=ALONE):
        own = {time: getattr(step, time) / speed for time in ("t_first_token", "t_last", "t_end")}
        write(writer, [replace(step, recording="tiny", engine=f"{name} {step.engine}", **own)])
    writer.finish("done", "")
    return writer.id


def test_two_runs_of_one_fingerprint(app):
    same = {"recordings": {"tiny": "h"}, "model": "m"}
    a, b = run("a", 1.0, same), run("b", 1.5, same)
    said = words(page(app, run_id=a, other=b, arm="prefix"))
    assert "Run B against run A: with no layer answers came 1.50 times as fast" in said
    assert "The same machine, model, versions and engines." in said
    assert drawn(app, "does run B gain over run A")
    spec = next(json.loads(c.proto.spec) for c in app.get("plotly_chart") if "answered within" in c.proto.spec)
    assert [trace["name"] for trace in spec["data"] if trace["mode"] == "lines"] == ["A: prefix", "B: prefix"]


def test_two_runs_of_different_fingerprints_by_a_short_name(app):
    a, b = run("a", 1.0, {"model": "small"}), run("b", 1.5, {"model": "large"})
    page(app, run_id=a, other=b.rsplit("-", 1)[-1])
    assert "the runs differ in model" in words(app)
    assert [list(row) for row in app.table[0].value.to_numpy()] == [["model", "small", "large"]]
    assert app.query_params["other"] == b
    app.selectbox(key="other").select("").run()
    assert "other" not in app.query_params
    assert "Prefix caching pays" in words(app)


def test_an_unknown_other_run_is_named_and_the_run_is_shown_alone(app):
    ended(steps(turns=2))
    said = words(page(app, other="nonsense"))
    assert "nonsense" in said
    assert "Too few to tell" in said


def test_a_run_whose_tables_are_gone_is_read_from_its_events(app, machine):
    made = ended(planted(("base", "prefix"), gains=ALONE, repeats=4), seed=1)
    for name in ("steps", "chunks"):
        (machine / "runs" / made / f"{name}.parquet").write_bytes(b"not a table")
    assert "Prefix caching pays" in words(page(app))


def test_a_folder_that_does_not_open_is_said(app, machine):
    made = ended(steps(turns=1))
    (machine / "runs" / made / "run.json").write_text("{")
    page(app, run_id=made)
    assert app.warning or app.error or app.info
    assert not app.get("plotly_chart")
