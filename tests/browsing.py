"""The dashboard in a real browser: the server, the browser, and what a page must never do.

Playwright drives the Chromium of the system; it brings none of its own here.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
SCREENSHOTS = ROOT / "screenshots"
TAKEN: list[Path] = []
"""The pictures of this session."""
SIZES = {"wide": (1280, 900), "narrow": (420, 900)}
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = "No Chromium is installed. As root: apt-get install chromium. Or name one: LABKIT_CHROMIUM=/path/to/it"
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
HARMLESS = re.compile(r"ResizeObserver loop|404 .*/\w+/_stcore/(health|host-config)$")
"""What a browser says itself, and Streamlit's look for its server below the page's own address."""

Mode = Literal["light", "dark"]


def chromium() -> str:
    """The browser's path. Raises FileNotFoundError, with what to install."""
    path = os.environ.get("LABKIT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError(NO_BROWSER)
    return path


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser, running."""
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield running
        running.close()


@contextmanager
def served(log: Path, env: Mapping[str, str], python: str = sys.executable) -> Iterator[str]:
    """The app on a free port of this machine, with these variables; its URL. What it printed is in `log`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    command = [python, "-m", "streamlit", "run", "app", f"--server.port={url.rsplit(':', 1)[-1]}"]
    command += ["--server.fileWatcherType=none"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **env}, stdout=out, stderr=out, start_new_session=True
        )
        try:
            _wait_for(f"{url}/_stcore/health", server, log)
            yield url
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"The app did not start:\n{log.read_text(errors='replace')}") from None
            time.sleep(0.2)


class Tab:
    """A tab that notes what no page of ours may do: an error on the console, a request outside this machine."""

    def __init__(self, running: Browser, url: str, mode: Mode = "light", size: str = "wide") -> None:
        width, height = SIZES[size]
        self.url = url
        self.page: Page = running.new_page(viewport={"width": width, "height": height}, color_scheme=mode)
        self.page.set_default_timeout(60_000)
        self.errors: list[str] = []
        self.outside: list[str] = []
        self.page.on("console", lambda said: self._said(said.type, f"{said.text} {said.location.get('url', '')}"))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _said(self, kind: str, text: str) -> None:
        if kind == "error" and not HARMLESS.search(text):
            self.errors.append(text)

    def _asked(self, address: str) -> None:
        if not address.startswith((self.url, self.url.replace("http", "ws", 1), "data:", "blob:")):
            self.outside.append(address)

    def open(self, path: str = "", title: str | None = None) -> Page:
        """A page of the app, when it stands still."""
        self.page.goto(f"{self.url}/{path}")
        heading = self.page.get_by_role("heading", level=1)
        heading.filter(has_text=title).wait_for() if title else heading.first.wait_for()
        self.settle()
        return self.page

    def settle(self, ms: int = 400) -> None:
        """Wait until the script has run and charts are drawn."""
        self.page.locator(IDLE).wait_for(state="attached")
        self.page.wait_for_timeout(ms)
        self.page.locator(IDLE).wait_for(state="attached")

    def shoot(self, name: str) -> Path:
        """The whole page as a picture in `screenshots/`, which git ignores."""
        SCREENSHOTS.mkdir(exist_ok=True)
        height = self.page.evaluate("document.querySelector('[data-testid=stMain]')?.scrollHeight || 900")
        width = self.page.viewport_size["width"]
        self.page.set_viewport_size({"width": width, "height": min(max(int(height) + 80, 900), 6000)})
        self.settle(700)
        self.page.mouse.move(0, 0)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        TAKEN.append(path)
        return path

    def close(self) -> None:
        self.page.close()
