"""A page as a browser would see it: its text, and everything that it would load or run."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

_LOADING = {"src", "href", "data", "action", "poster", "srcset", "background", "formaction", "xlink:href"}
_UNKNOWN = re.compile(r"\b(nan|NaN|None|<NA>|NaT|inf)\b")


class Page(HTMLParser):
    """`text`: what is written on it, without scripts and style. `loads`: tag and address of what is fetched."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.parts: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.handlers: list[str] = []
        self.tags: list[str] = []
        self._within: list[str] = []
        self._type: str | None = None
        self.feed(source)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.parts)).strip()

    @property
    def unknown(self) -> list[str]:
        """What a null looks like when somebody forgot the dash."""
        return _UNKNOWN.findall(self.text)

    @property
    def outside(self) -> list[tuple[str, str]]:
        """Whatever is not an anchor within the page."""
        return [(tag, address) for tag, address in self.loads if not address.startswith("#")]

    @property
    def code(self) -> list[str]:
        """The scripts that run; figures are data."""
        return [text for kind, text in self.scripts if kind is None]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [(tag, value or "") for name, value in attrs if name in _LOADING]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag in ("script", "style"):
            self._within.append(tag)
            self._type = dict(attrs).get("type")
            if tag == "script":
                self.scripts.append((self._type, ""))

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.parts.append(data)
        elif self._within[-1] == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))
