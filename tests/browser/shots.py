"""Pictures of the dashboard as a browser shows it: every page, wide and narrow, light and dark.

    python tests/browser/shots.py --page compare --on "Speculation"

They go to `screenshots/`. The store and the fleet are those of the LABKIT_* variables: a picture shows real runs. A
page that asks for anything outside this machine, or has an error on its console, fails.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from browsing import SCREENSHOTS, SIZES, Tab, browser, served

PAGES = ("", "compare", "layers", "trajectory", "engines", "capacity", "doctor", "export")


def main() -> None:
    """Take all pictures; exit 1 with what a page did that none may do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--page", action="append", help="a page's address, such as compare?run_id=...; all when left out"
    )
    parser.add_argument("--on", action="append", default=[], help="label of a toggle to switch on first")
    given = parser.parse_args()
    SCREENSHOTS.mkdir(exist_ok=True)
    bad: list[str] = []
    with served(SCREENSHOTS / "app.log", {}) as url, browser() as running:
        for path in given.page or PAGES:
            for mode in ("light", "dark"):
                bad += [
                    said for size in SIZES for said in shoot(Tab(running, url, mode, size), path, given.on, mode, size)
                ]
    sys.exit("\n".join(sorted(set(bad))) or 0)


def shoot(tab: Tab, path: str, toggles: list[str], mode: str, size: str) -> list[str]:
    """One picture; what the page did that none may do."""
    page = tab.open(path)
    for label in toggles:
        page.get_by_text(label, exact=True).first.click()
        tab.settle()
    tab.shoot(f"{path.partition('?')[0] or 'live'}-{mode}-{size}")
    tab.close()
    return tab.errors + tab.outside


if __name__ == "__main__":
    main()
