"""Somebody who never saw the dashboard measures what prefix caching is worth: real engine, real browser, one story.

Ended by the test: the engines that the pages left warm, in a fleet of their own.
"""

from __future__ import annotations

import contextlib
import io
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import Tab
from playwright.sync_api import Locator, Page, TimeoutError, expect

from labkit.engines import weights
from labkit.engines.fleet import Fleet
from labkit.experiments import jobs
from labkit.store.runs import Run, RunStore

pytestmark = [pytest.mark.engine, pytest.mark.alone, pytest.mark.timeout(600)]
START_MS, LAPS_MS = 150_000, 300_000
STEPS = 3
TOGGLE_S = 2.0
"""From a click to a step under the new arm, beside what the step under way still takes."""
NOTE_CLICK = "addEventListener('click', () => { window.clickedAt = Date.now() }, {capture: true, once: true})"
"""Playwright waits until what it clicks stands still: the click itself is later than the call."""
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("story")


@pytest.fixture(scope="module")
def url(places) -> Iterator[str]:
    """The app with an empty store and a fleet of its own, and the model that everybody shares."""
    weights.fetch()
    runs, state = places / "runs", places / "state"
    with browsing.served(places / "app.log", {"LABKIT_RUNS": str(runs), "LABKIT_STATE": str(state)}) as url:
        yield url
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABKIT_STATE", str(state))
        for job in jobs.jobs():
            jobs.cancel(job.id)
        Fleet().down()


def toggle(page: Page, label: str) -> None:
    """Flip a layer. The switch itself is hidden below what is drawn of it."""
    page.get_by_text(label, exact=True).first.click()


def button(page: Page, label: str) -> Locator:
    """A button of the page, not of what stands around it; its icon's name may stand before its label."""
    return page.get_by_test_id("stMainBlockContainer").get_by_role("button", name=re.compile(rf"^(\w+\s+)?{label}$"))


def choose(tab: Tab, label: str, option: str) -> None:
    """Pick from a list; one that opens while the page is drawn anew closes again, so it is tried more than once."""
    for _ in range(8):
        tab.settle()
        tab.page.get_by_role("combobox", name=label).click()
        with contextlib.suppress(TimeoutError):
            tab.page.get_by_role("option", name=option).click(timeout=4000)
            return
        tab.page.keyboard.press("Escape")
    pytest.fail(f"{option} cannot be picked from {label}")


def until(what, happened, seconds: float = 60.0, every: float = 0.5) -> None:
    """Wait for something that no page shows."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(every)


def test_the_whole_story(chrome, url, places):
    store = RunStore(places / "runs")
    tab = Tab(chrome, url)
    page = tab.open(title="Live")
    expect(page.get_by_text("No run yet.")).to_be_visible()

    first = measure_prefix_caching(tab, store)
    tab.shoot("story-1-measured")
    second = flip_and_repeat_with_a_reload_and_a_second_tab(chrome, tab, store, first)
    tab.shoot("story-2-repeated")
    name_the_effect(tab, first)
    tab.shoot("story-3-compared")
    archive = take_away(tab, first, places)
    tab.shoot("story-4-exported")

    steps = store.open(first).steps()
    assert set(steps.loc[~steps["warmup"], "arm"]) == {"base", "prefix"}
    assert second != first
    assert any(name.endswith(".csv") for name in archive.namelist())
    assert tab.errors + tab.outside == []


def measure_prefix_caching(tab: Tab, store: RunStore) -> str:
    """Toggles, Run, and the plots that appear while it goes on; id of the run."""
    page = tab.page
    toggle(page, "Speculation")
    expect(page.get_by_text("prefix+spec", exact=True).first).to_be_visible()
    toggle(page, "Speculation")
    tab.settle()
    page.get_by_text("What is run", exact=True).click()
    choose(tab, "Laps", "3 laps")
    slider = page.get_by_role("slider", name="Steps")
    for _ in range(int(slider.input_value()) - STEPS):
        slider.press("ArrowLeft")
    expect(page.get_by_text(f"Run: {STEPS} steps of")).to_contain_text("base first, then prefix, 3 laps")
    button(page, "Run").click()
    expect(button(page, "Stop")).to_be_enabled()
    page.get_by_test_id("stPlotlyChart").first.wait_for(timeout=START_MS)
    tab.shoot("story-0-running")
    until_ended(page)
    return store.list()[0].id


def until_ended(page: Page) -> None:
    """The run that goes on has ended: Run can be pressed again."""
    expect(button(page, "Run")).to_be_enabled(timeout=LAPS_MS)


def flip_and_repeat_with_a_reload_and_a_second_tab(chrome, tab: Tab, store: RunStore, first: str) -> str:
    """The same steps under base, steered back to prefix caching while they go on; nothing is lost by a reload."""
    page = tab.page
    toggle(page, "Prefix caching")
    button(page, "Repeat these steps under base").click()
    until("the second run", lambda: len(store.list()) == 2)
    second = store.list()[0].id
    until("a step of it", lambda: len(store.open(second).steps()) > 1, 120)
    the_next_step_goes_where_the_toggle_says(page, store.open(second))

    page.reload()
    other = Tab(chrome, tab.url)
    other.open(f"?run_id={second}", "Live")
    for each in (page, other.page):
        expect(each.get_by_text(second.rsplit("-", 1)[-1]).first).to_be_visible()
        until_ended(each)
    until("both tabs to show the same", lambda: shown(page) == shown(other.page))
    assert all(shown(page))
    other.shoot("story-second-tab")
    other.close()
    return second


def shown(page: Page) -> tuple[list[str], list[str]]:
    """What the page says of the run: its finding, and the tiles."""
    finding = page.get_by_test_id("stMainBlockContainer").get_by_role("heading", level=3)
    return finding.all_inner_texts(), page.get_by_test_id("stMetric").all_inner_texts()


def the_next_step_goes_where_the_toggle_says(page: Page, run: Run) -> None:
    """From the click in the browser: the step that is under way ends, and the next one is sent to prefix caching."""
    page.evaluate(NOTE_CLICK)
    toggle(page, "Prefix caching")
    clicked, ahead = page.evaluate("window.clickedAt") / 1000 - (time.time() - time.monotonic()), []

    def sent_to_prefix() -> bool:
        events = run.events()
        ahead.append(time.monotonic() - max(event["t"] for event in events))
        return any(event["type"] == "sent" and event["arm"] == "prefix" for event in events)

    until("a step under prefix caching", sent_to_prefix, every=0.05)
    click = clicked - min(ahead)  # on the run's own clock, which each look was a moment behind
    events = [event for event in run.events() if event["type"] in ("sent", "step")]
    first = next(event for event in events if event["type"] == "sent" and event["arm"] == "prefix")
    before = [event["t"] for event in events if event["type"] == "step" and event["t"] <= first["t"]]
    assert first["t"] - max([click, *before]) < TOGGLE_S
    late = [event for event in events if event["type"] == "sent" and click + TOGGLE_S < event["t"] < first["t"]]
    assert late == []


def name_the_effect(tab: Tab, run: str) -> None:
    """The Compare page says in words what prefix caching did."""
    page = tab.open(f"compare?run_id={run}", "Compare")
    said = page.get_by_text(re.compile(r"prefix caching", re.I)).first
    expect(said).to_contain_text(re.compile(r"\d[.,]\d+ times|%"))


def take_away(tab: Tab, run: str, places: Path) -> zipfile.ZipFile:
    """An export, downloaded and read."""
    page = tab.open(f"export?run_id={run}", "Export")
    button(page, "Prepare").click()
    with page.expect_download(timeout=60_000) as waiting:
        page.get_by_role("button", name=re.compile("Download")).first.click(timeout=60_000)
    return zipfile.ZipFile(io.BytesIO(Path(waiting.value.path()).read_bytes()))
