"""Is a huge run looked at as fast as a small one? `python benchmarks/bench_dashboard.py`

A run of 100 agents, eight arms, 20,000 steps and 1,000,000 chunks is made up, and the dashboard shows it in a real
Chromium. For each page: how long the first opening takes, when nothing has been read or worked out yet, and how long
each later one takes (the median of five, by the menu of a tab that is open; a reload is told beside it). Then: what a
live run with 100,000 chunks costs that is looked at once a second, and the memory of the server after all that.

The bar is 2 s for whatever comes after the first opening. The last line is JSON. Takes about three minutes.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import huge_run
from browsing import Tab, browser, served

from labkit.experiments.dashboard.opened import Followed
from labkit.store.jsonl import to_json
from labkit.store.layout import EVENTS
from labkit.store.listing import Listing
from labkit.store.runs import RunStore

PAGES = {
    "": "Live", "compare": "Compare", "layers": "Layers", "trajectory": "Trajectory", "engines": "Engines",
    "capacity": "Capacity and cost", "doctor": "Doctor", "export": "Export",
}  # fmt: skip
LATER, BAR_S = 5, 2.0
LIVE = huge_run.Size(turns=5, chunks=25)
"""4,000 steps and 100,000 chunks."""
LOOKS = 20


def seconds(work) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def by_menu(tab: Tab, title: str) -> None:
    """Open a page from the menu, until it stands still."""
    tab.page.get_by_role("link", name=title, exact=True).first.click()
    tab.page.get_by_role("heading", level=1).filter(has_text=title).wait_for()
    tab.settle(0)


def opened(tab: Tab, path: str, title: str) -> dict[str, float]:
    """Seconds of the first opening of a page, of later ones, and of a reload."""
    away = "Engines" if title != "Engines" else "Doctor"
    first, later = seconds(lambda: by_menu(tab, title)), []
    for _ in range(LATER):
        by_menu(tab, away)
        later.append(seconds(lambda: by_menu(tab, title)))
    reload = seconds(lambda: tab.open(path, title))
    return {"first_s": round(first, 2), "later_s": round(statistics.median(later), 2), "reload_s": round(reload, 2)}


def pages(root: Path) -> dict[str, object]:
    """Every page on the huge run, and what the server needs for it."""
    huge_run.write(root / "runs")
    env = {"LABKIT_RUNS": str(root / "runs"), "LABKIT_STATE": str(root / "state")}
    with served(root / "app.log", env) as url, browser() as running:
        tab = Tab(running, url)
        tab.open("doctor", "Doctor")
        found = {title: opened(tab, path, title) for path, title in PAGES.items()}
        server = next(p for p in psutil.Process().children(recursive=True) if "streamlit" in " ".join(p.cmdline()))
        memory = server.memory_info().rss
    return {"pages": found, "server_mib": memory >> 20}


def polling(root: Path) -> dict[str, float]:
    """Milliseconds that one look at a live run costs, with five new steps in it each time."""
    store = RunStore(root / "live")
    with store.create("factorial", {"arms": huge_run.LABELS}, {}) as run:
        steps, times = huge_run.step_columns(run.id, LIVE)
        lines = [to_json(event) + "\n" for event in huge_run.step_events(steps, times)]
        with (run.folder / EVENTS).open("a") as file:
            file.writelines(lines[: -5 * LOOKS])
        listing, followed = Listing(store), Followed(store.open(run.id))
        followed.now().view.table()
        looks, tables = [], []
        for n in range(LOOKS):
            with (run.folder / EVENTS).open("a") as file:
                file.writelines(lines[len(lines) - 5 * (LOOKS - n) :][:5])
            looks.append(seconds(lambda: (listing.one(run.id), followed.now().steps, followed.now().events)))
            tables.append(seconds(lambda: followed.now().view.table()))
        chunks = len(followed.now().chunks)
    ms = {"look_ms": 1000 * statistics.median(looks), "arm_table_ms": 1000 * statistics.median(tables)}
    return {"chunks": chunks, **{name: round(value, 1) for name, value in ms.items()}}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="labkit-bench-") as folder:
        live, found = polling(Path(folder)), pages(Path(folder))
    print(f"{'page':20} {'first':>8} {'later':>8} {'reload':>8}")
    slow = []
    for title, took in found["pages"].items():
        print(f"{title:20} {took['first_s']:7.2f}s {took['later_s']:7.2f}s {took['reload_s']:7.2f}s")
        slow += [title] * (took["later_s"] > BAR_S)
    print(f"a look at a live run of {live['chunks']:,} chunks: {live['look_ms']} ms; its table of arms: ", end="")
    print(f"{live['arm_table_ms']} ms\nmemory of the server: {found['server_mib']} MiB")
    print(f"slower than {BAR_S:g} s after the first opening: {', '.join(slow) or 'none'}")
    print(json.dumps({**found, "live": live, "slow": slow}))


if __name__ == "__main__":
    main()
