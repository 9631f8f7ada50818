"""Pictures of the dashboard as a browser shows it: wide and narrow, light and dark.

    python tests/browser/shots.py OUT --browser /usr/bin/chromium --on "Prefix caching" --on Speculation

Needs playwright (not in the lock: only this script uses it) and an installed Chromium. The store and the fleet are
those of the LABKIT_* variables: a picture shows real runs. A page that asks for anything outside this machine fails.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
SIZES = {"wide": (1280, 1900), "narrow": (420, 3600)}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SETTLED_MS = 3000


@contextmanager
def served(python: str) -> Iterator[str]:
    """The app on a free port; its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [python, "-m", "streamlit", "run", "app", f"--server.port={port}"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"{url}/_stcore/health")
        yield url
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url).close()
            return
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def shoot(browser: Browser, url: str, size: str, mode: str, toggles: list[str], path: Path) -> list[str]:
    """One picture; returns the addresses outside this machine that the page asked for."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=mode)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_timeout(SETTLED_MS)
    for label in toggles:
        page.get_by_text(label, exact=True).click()
        page.wait_for_timeout(SETTLED_MS)
    page.mouse.move(0, 0)
    page.screenshot(path=path)
    page.close()
    return [address for address in asked if not address.startswith((url, "data:", "blob:"))]


def main() -> None:
    """Take all pictures; exit 1 when the page asked for anything outside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--browser", default="/usr/bin/chromium", help="path of the browser")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has labkit and streamlit")
    parser.add_argument("--on", action="append", default=[], help="label of a toggle to switch on first")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    outside: list[str] = []
    with served(given.python) as url, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=given.browser, args=FLAGS)
        for mode in ("light", "dark"):
            for size in SIZES:
                outside += shoot(browser, url, size, mode, given.on, given.out / f"live-{mode}-{size}.png")
        browser.close()
    sys.exit(f"asked for: {', '.join(sorted(set(outside)))}" if outside else 0)


if __name__ == "__main__":
    main()
