"""The picker on a page: the address names the run and stays, an odd one is told, and an example is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_folders import ended, started
from synthetic import steps

from labkit.store.examples import examples

PROJECT = Path(__file__).parents[2]
PAGE = "app_pages/layers.py"
OTHER = "app_pages/export.py"


@pytest.fixture
def page(app):
    """Opens the page, with this run in its address."""

    def opened(run: str | None = None, path: str = PAGE):
        app.run()
        app.switch_page(path)
        if run:
            app.query_params["run_id"] = run
        app.run()
        assert not app.exception
        return app

    return opened


def address(app) -> str:
    """The run that the address names; AppTest gives a list for what a test has set, a text for what the page has."""
    named = app.query_params["run_id"]
    return named if isinstance(named, str) else named[0]


def words(app) -> str:
    return "\n".join(element.value for kind in ("info", "warning", "error", "caption") for element in app.get(kind))


def test_the_address_gets_the_newest_run_and_keeps_it(page):
    run = ended(steps(("base", "prefix")))
    app = page()
    assert address(app) == run
    ended(steps(("base", "prefix")))
    app.run()
    assert address(app) == run
    assert app.selectbox(key="run_id").value == run


def test_an_address_picks_its_run_by_id_or_short_end(page):
    first = ended(steps(("base", "prefix")))
    ended(steps(("base", "prefix")))
    app = page(first.rsplit("-", 1)[-1])
    assert app.selectbox(key="run_id").value == first
    assert address(app) == first


def test_a_pick_goes_into_the_address_and_along_to_the_next_page(page):
    first = ended(steps(("base", "prefix")))
    second = ended(steps(("base", "prefix")))
    app = page()
    app.selectbox(key="run_id").select(first).run()
    assert address(app) == first
    app.selectbox(key="run_id").select(second).run()
    assert address(app) == second
    app.selectbox(key="run_id").select(first).run()
    del app.query_params["run_id"]
    assert address(page(path=OTHER)) == first


def test_a_label_that_changes_does_not_change_the_pick(page):
    older = started(["base", "prefix"])
    ended(steps(("base", "prefix")))
    app = page(older.id)
    assert "running" not in app.selectbox(key="run_id").options[1]
    assert "This run goes on" in words(app)
    older.finish("cancelled", "stopped")
    app.run()
    assert not app.exception
    assert app.selectbox(key="run_id").value == older.id
    assert "stopped" in app.selectbox(key="run_id").options[1]
    assert "goes on" not in words(app)


def test_an_odd_address_is_named_and_the_newest_shown(page):
    run = ended(steps(("base", "prefix")))
    app = page("nothing-like-it")
    assert "no run is called 'nothing-like-it'" in words(app)
    assert app.selectbox(key="run_id").value == run


def test_an_empty_store_says_what_to_do_and_offers_the_example(page, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", str(PROJECT / "data"))
    app = page()
    assert "labkit run quick" in words(app)
    app.button(key="show_example").click().run()
    assert not app.exception
    assert "not on this machine" in words(app)
    assert address(app) == next(iter(examples()))


def test_a_store_that_is_a_file_says_so_on_every_page(page, machine):
    (machine / "runs").write_text("not a folder")
    assert "is a file" in words(page())
    assert "LABKIT_RUNS" in words(page(path="app_pages/live.py"))
