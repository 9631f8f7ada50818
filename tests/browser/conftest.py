"""One browser for all tests, and the app on stores of their own."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from playwright.sync_api import Browser
from run_folders import ended
from synthetic import failed

DATA = browsing.ROOT / "data"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the pictures are: git ignores them, and a build keeps them as what it made."""
    if browsing.TAKEN:
        terminalreporter.write_line(f"{len(browsing.TAKEN)} pictures of the dashboard are in {browsing.SCREENSHOTS}/")


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """The browser; without one the tests fail and say what to install.

    Of one module: while Playwright runs, its event loop is that of the thread, and no other test could have one.
    """
    try:
        browsing.chromium()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    with browsing.browser() as running:
        yield running


def variables(folder: Path, **more: str) -> dict[str, str]:
    """The lab's own places, below `folder`."""
    return {f"LABKIT_{name}": str(folder / name.lower()) for name in ("RUNS", "STATE")} | more


@pytest.fixture(scope="module")
def example_store(tmp_path_factory) -> Path:
    """A store with a real run that is shipped, of six arms, and before it one that failed."""
    folder = tmp_path_factory.mktemp("pages")
    os.environ["LABKIT_RUNS"] = str(folder / "runs")
    try:
        ended([failed("base", 1)], "failed", "base not measured: all 1 requests failed", arms=["base", "prefix"])
    finally:
        del os.environ["LABKIT_RUNS"]
    with zipfile.ZipFile(next((DATA / "runs").glob("*-6cb346.zip"))) as example:
        example.extractall(folder / "runs")
    return folder


@pytest.fixture(scope="module")
def app_url(example_store) -> Iterator[str]:
    """The app on that store."""
    with browsing.served(example_store / "app.log", variables(example_store)) as url:
        yield url


@pytest.fixture(scope="module")
def empty_url(tmp_path_factory) -> Iterator[str]:
    """The app on a store without a run."""
    folder = tmp_path_factory.mktemp("empty")
    with browsing.served(folder / "app.log", variables(folder)) as url:
        yield url
