"""Every page with every kind of store: no exception, a title, and everything on it can be read aloud."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import huge_run
import pytest
from run_folders import ended, started, write
from streamlit.testing.v1 import AppTest
from synthetic import failed, steps

PROJECT = Path(__file__).parents[2]
PAGES = sorted((PROJECT / "app" / "app_pages").glob("*.py"))
INPUTS = (
    "button", "checkbox", "color_picker", "date_input", "multiselect", "number_input", "radio", "select_slider",
    "selectbox", "slider", "text_area", "text_input", "toggle", "button_group", "file_uploader", "download_button",
    "data_editor",
)  # fmt: skip
TITLES = {
    "live": "Live", "compare": "Compare", "layers": "Layers", "trajectory": "Trajectory", "engines": "Engines",
    "capacity": "Capacity and cost", "doctor": "Doctor", "export": "Export",
}  # fmt: skip


@pytest.fixture(scope="session")
def huge(tmp_path_factory) -> Path:
    """A store with one run of 100 agents and eight arms; the benchmark has its full size."""
    root = tmp_path_factory.mktemp("huge")
    huge_run.write(root, huge_run.SMALL)
    return root


@pytest.fixture(autouse=True)
def real_data(machine, monkeypatch) -> None:
    """The recordings, tasks, prices and example runs that come with the project."""
    monkeypatch.setenv("LABKIT_DATA", str(PROJECT / "data"))


@pytest.fixture(params=["empty", "real", "failed", "live", "huge"])
def store(request, machine, monkeypatch) -> Iterator[str]:
    """A store of this kind."""
    with ExitStack() as until_seen:
        if request.param == "real":
            unpacked_example(machine / "runs")
        elif request.param == "failed":
            ended([failed("base", 1)], "failed", "base not measured: all 1 requests failed", arms=["base", "prefix"])
        elif request.param == "live":
            writer = until_seen.enter_context(started(["base", "prefix"]))
            write(writer, steps(("base",), turns=2))
            writer.event("progress", stage="measuring base", message="turn 2", done=2, total=8, eta_s=33.0)
        elif request.param == "huge":
            monkeypatch.setenv("LABKIT_RUNS", str(request.getfixturevalue("huge")))
        yield request.param


def unpacked_example(into: Path) -> str:
    """An example that is shipped, of six arms, as a run of one's own; its id."""
    archive = next((PROJECT / "data" / "runs").glob("*-6cb346.zip"))
    with zipfile.ZipFile(archive) as example:
        example.extractall(into)
    return archive.stem


def seen(app: AppTest, page: Path) -> AppTest:
    """The page as it opens."""
    app.run()
    app.switch_page(f"app_pages/{page.name}").run()
    assert not app.exception
    return app


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_opens_and_can_be_read_aloud(app, page, store):
    at = seen(app, page)
    assert [title.value for title in at.title] == [TITLES[page.stem]]
    drawn = [*at.get("plotly_chart"), *at.dataframe]
    assert [each.proto.id for each in drawn if not each.proto.alt.strip()] == []
    inputs = [element for kind in INPUTS for element in at.get(kind)]
    assert [element for element in inputs if not element.proto.label.strip()] == []


def test_every_page_of_the_router_is_here():
    assert [page.stem for page in PAGES] == sorted(TITLES)
