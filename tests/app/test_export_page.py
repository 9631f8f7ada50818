"""The Export page: choose, prepare, download, read it back; and share a view by its address."""

from __future__ import annotations

import io
import os
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from run_folders import ended, started, write
from synthetic import steps

from labkit.store.runs import RunStore

PROJECT = Path(__file__).parents[2]
KINDS = ("markdown", "caption", "info", "warning", "error", "code")


@pytest.fixture(autouse=True)
def temporary(machine, monkeypatch) -> Path:
    """Where downloads are made."""
    (machine / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(machine / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return machine / "tmp"


def seen(app, **query: str | list[str]):
    app.run()
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page("app_pages/export.py").run()
    assert not app.exception
    return app


def words(app) -> str:
    return "\n".join(element.value for kind in KINDS for element in getattr(app, kind))


def prepared(app) -> bytes:
    """Press Prepare, wait as the fragment would, and what the download button gives."""
    app.button(key="prepare").click().run()
    deadline = time.monotonic() + 60
    while not app.get("download_button"):
        assert time.monotonic() < deadline, words(app)
        assert not app.exception
        time.sleep(0.1)
        app.run()
    return app.session_state["prepared"][-1].read()


def test_nothing_is_made_before_it_is_asked_for(app, temporary):
    ended(steps(("base", "prefix")))
    seen(app)
    assert not app.get("download_button")
    assert not list(temporary.iterdir())
    assert "Less than 0.1 MB" in words(app)
    assert "tables for spreadsheets" in words(app)


def test_a_download_reads_back(app, temporary):
    run = ended(steps(("base", "prefix"), turns=3))
    seen(app, formats="parquet")
    data = prepared(app)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        table = pd.read_parquet(io.BytesIO(archive.read(f"{run}/parquet/steps.parquet")))
    assert len(table) == 6
    button = app.get("download_button")[0].proto
    assert button.label.startswith(f"Download {run}-parquet.zip (")
    assert f"labkit export {run} --format parquet" in words(app)
    assert len(list(temporary.iterdir())) == 1


def test_another_choice_forgets_the_file_that_was_made(app, temporary):
    ended(steps(("base",)))
    seen(app)
    prepared(app)
    first = next(temporary.iterdir())
    app.button_group(key="formats").set_value(["perfetto"]).run()
    assert not app.get("download_button")
    prepared(app)
    assert not first.exists()


def test_several_runs_and_formats_are_one_zip_and_the_address_names_them(app):
    one, two = ended(steps(("base",))), ended(steps(("prefix",)))
    seen(app, runs=[one, two], formats=["csv", "folder"])
    assert app.multiselect(key="runs").value == [one, two]
    with zipfile.ZipFile(io.BytesIO(prepared(app))) as archive:
        names = set(archive.namelist())
    assert {f"{one}/csv/steps.csv", f"{two}/folder/{two}.zip"} <= names


def test_the_run_folder_opens_again(app, machine):
    run = ended(steps(("base",), turns=2))
    seen(app, formats="folder")
    (machine / "again.zip").write_bytes(prepared(app))
    assert RunStore(machine / "elsewhere").open(machine / "again.zip").info == RunStore().open(run).info


def test_a_run_that_goes_on_and_one_that_failed_say_what_is_missing(app):
    ended([], "failed", "no engine")
    assert "It failed before a step was over" in words(seen(app))
    with started(["base"]) as writer:
        write(writer, steps(("base",), turns=2))
        seen(app, runs=writer.id)
        assert "It still goes on: the export has what there is now (2 steps)" in words(app)
        assert prepared(app)


def test_a_folder_that_broke_meanwhile_is_no_exception(app, machine):
    run, whole = ended(steps(("base",))), ended(steps(("prefix",)))
    seen(app, runs=[run, whole])
    (machine / "runs" / run / "events.jsonl").write_text("")
    app.button(key="prepare").click().run()
    assert not app.exception
    assert app.multiselect(key="runs").value == [whole]
    assert run in app.warning[0].value


def test_an_empty_store_and_an_empty_choice_say_what_to_do(app):
    assert "No run yet" in words(seen(app))
    ended(steps(("base",)))
    app.run()
    app.multiselect(key="runs").set_value([]).run()
    assert not app.exception
    assert "Choose a run and a format" in words(app)


def test_without_a_run_of_ones_own_the_example_can_be_exported(app, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", str(PROJECT / "data"))
    said = words(seen(app))
    assert "No run yet" in said
    assert "Or choose an example" in said
    example = next((PROJECT / "data" / "runs").glob("*-6cb346.zip")).stem
    app.multiselect(key="runs").set_value([example]).run()
    assert not app.exception
    assert "wherever the dashboard runs" in words(app)
    with zipfile.ZipFile(io.BytesIO(prepared(app))) as archive:
        assert f"{example}/csv/steps.csv" in archive.namelist()


def test_a_large_download_is_a_place_and_a_command_and_no_button(app):
    run = ended(steps(("base", "prefix")))
    prepared(seen(app))
    made = app.session_state["prepared"][-1].file
    os.truncate(made, 200_000_001)
    app.run()
    assert not app.exception
    assert not app.get("download_button")
    assert "About 200 MB: too large for a browser" in words(app)
    assert str(made) in [code.value for code in app.code]
    assert f"labkit export {run} --format csv" in words(app)


def test_a_view_is_shared_by_its_address(app):
    run = ended(steps(("base",)))
    said = words(seen(app))
    links = [link.proto for link in app.get("page_link")]
    assert [link.page for link in links] == ["compare", "layers", "trajectory", "capacity"]
    assert f"/compare?run_id={run}" in said
    assert "whoever opens it needs the same folder of runs" in said
