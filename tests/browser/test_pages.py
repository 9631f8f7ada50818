"""Every page in a real browser: light and dark, wide and narrow, by keyboard, and with nothing asked of the outside."""

from __future__ import annotations

from urllib.parse import quote

import browsing
import pytest
from browsing import SIZES, Tab
from playwright.sync_api import Page
from run_folders import started, write
from synthetic import steps

from labkit.store.examples import examples

pytestmark = pytest.mark.alone
TITLES = {
    "": "Live", "compare": "Compare", "layers": "Layers", "trajectory": "Trajectory", "engines": "Engines",
    "capacity": "Capacity and cost", "doctor": "Doctor", "export": "Export",
}  # fmt: skip
RUN = "6cb346"
INPUTS = {"button", "checkbox", "combobox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox"}
MAIN = "[data-testid=stMain]"
FOCUSABLE = """main => [...document.querySelector(main).querySelectorAll(
      'input:not([type=radio]), button:not([role=radio]), textarea, [role=slider], [role=radiogroup], [role=toolbar]')]
  .filter(e => !e.parentElement.closest('[role=toolbar]'))
  .filter(e => !e.disabled && (e.tabIndex >= 0 || /radiogroup|toolbar/.test(e.role)) && e.type != 'file')
  .filter(e => !e.closest('[inert]'))
  .filter(e => e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}))
  .map((e, n) => (e.dataset.seen = String(n), e.outerHTML.slice(0, 160)))"""
"""Marks what can be focused; in a group of radios or of pills, the Tab key stops once, and the arrow keys go on."""
FOCUSED = "document.activeElement?.closest('[data-seen]')?.dataset.seen"


def name(path: str) -> str:
    """The page's name in a picture's; Live is where the app opens, at no path."""
    return path or "live"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_pages_are_drawn_without_an_error(chrome, app_url, mode, size):
    seen = {}
    for path, title in TITLES.items():
        tab = Tab(chrome, app_url, mode, size)
        page = tab.open(f"{path}?run_id={RUN}", title)
        tab.shoot(f"{name(path)}-{mode}-{size}")
        broken = page.get_by_test_id("stException").count()
        across = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        seen[path] = [*tab.errors, *tab.outside, *(["an exception"] * broken), *(["too wide"] if across > 1 else [])]
        tab.close()
    assert {path: said for path, said in seen.items() if said} == {}


def test_an_empty_store_says_what_to_do_next(chrome, empty_url):
    for path, title in TITLES.items():
        tab = Tab(chrome, empty_url)
        page = tab.open(path, title)
        tab.shoot(f"{name(path)}-empty")
        assert page.get_by_test_id("stException").count() == 0
        assert tab.errors + tab.outside == [], path
        tab.close()


def test_live_is_found_by_its_name_and_keeps_what_the_address_chose(chrome, app_url):
    tab = Tab(chrome, app_url)
    page = tab.open(f"live?run_id={RUN}&arm=prefix", "Live")
    page.wait_for_url(f"{app_url}/?**")
    assert "arm=prefix" in page.url
    assert RUN in page.url
    assert tab.errors + tab.outside == []
    tab.close()


def test_an_example_can_be_looked_at_before_anything_was_measured(chrome, empty_url):
    tab = Tab(chrome, empty_url)
    page = tab.open("compare", "Compare")
    page.get_by_role("button", name="Show an example run").click()
    page.get_by_text("not on this machine").first.wait_for()
    assert f"run_id={next(iter(examples()))}" in page.url
    page.reload()
    page.get_by_text("not on this machine").first.wait_for()
    tab.close()


@pytest.mark.parametrize("path", TITLES, ids=name)
def test_every_input_has_a_name_and_is_reached_by_the_tab_key(chrome, app_url, path):
    tab = Tab(chrome, app_url)
    page = tab.open(f"{path}?run_id={RUN}", TITLES[path])
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    inputs = [node for node in nodes if not node["ignored"] and node["role"].get("value") in INPUTS]
    assert [node for node in inputs if not node.get("name", {}).get("value", "").strip()] == []
    there = dict(enumerate(page.evaluate(FOCUSABLE, MAIN)))
    got = reached(page, len(there))
    assert [html for number, html in there.items() if number not in got] == []
    tab.close()


def test_arrow_keys_go_from_format_to_format(chrome, app_url):
    tab = Tab(chrome, app_url)
    page = tab.open(f"export?run_id={RUN}", TITLES["export"])
    page.get_by_role("button", name="csv", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.get_by_text("--format parquet").first.wait_for()
    tab.close()


def reached(page: Page, many: int) -> set[int]:
    """Which of the marked inputs get the focus when Tab is pressed again and again."""
    page.evaluate("document.activeElement.blur()")
    found = set()
    for _ in range(3 * many + 40):
        page.keyboard.press("Tab")
        if (number := page.evaluate(FOCUSED)) is not None:
            found.add(int(number))
    return found


def test_the_menu_holds_all_pages_on_a_wide_screen(chrome, app_url):
    tab = Tab(chrome, app_url)
    page = tab.open("", "Live")
    for title in TITLES.values():
        assert page.get_by_role("link", name=title, exact=True).first.is_visible(), title
    page.get_by_role("link", name="Engines", exact=True).first.click()
    page.get_by_role("heading", level=1).filter(has_text="Engines").wait_for()
    tab.close()


def test_a_run_that_does_not_exist_is_named_and_the_newest_is_shown(chrome, app_url):
    tab = Tab(chrome, app_url)
    page = tab.open("layers?run_id=no-such-run", "Layers")
    page.get_by_text("no run is called 'no-such-run'").wait_for()
    assert "no-such-run" not in page.url
    page.get_by_role("combobox", name="Run").first.wait_for()
    tab.close()


FOREIGN = "![x](http://203.0.113.1/b.png) <b>:red[b]</b> :material/home: :smile: :streamlit: $a$ `c` _d_ a -> b"


def test_an_address_is_shown_as_it_is_written_and_calls_nobody(chrome, app_url):
    tab = Tab(chrome, app_url)
    page = tab.open(f"layers?run_id={quote(FOREIGN)}", "Layers")
    shown = page.get_by_role("alert").filter(has_text="no run is called")
    assert FOREIGN in shown.inner_text().replace("\N{WORD JOINER}", "")
    assert shown.locator("img").count() == 0
    assert tab.outside == []
    tab.close()


@pytest.mark.parametrize("path", ["compare", "capacity", "trajectory"])
def test_a_page_keeps_up_with_a_run_and_rests_when_it_has_ended(chrome, tmp_path, monkeypatch, path):
    for place in ("RUNS", "STATE"):
        monkeypatch.setenv(f"LABKIT_{place}", str(tmp_path / place.lower()))
    with started(["base", "prefix"]) as writer, browsing.served(tmp_path / "app.log", {}) as url:
        write(writer, steps(("base",), turns=2))
        tab = Tab(chrome, url)
        page = tab.open(f"{path}?run_id={writer.id}", TITLES[path])
        follows = page.get_by_text("the page follows it")
        follows.wait_for()
        page.evaluate("window.here = true")
        write(writer, steps(("prefix",), turns=2))
        writer.finish("done", "")
        follows.wait_for(state="detached", timeout=20_000)
        tab.settle()
        assert page.evaluate("window.here")
        assert page.get_by_text("running", exact=True).count() == 0
        tab.close()
