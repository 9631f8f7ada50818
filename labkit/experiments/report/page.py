"""From blocks to one HTML file that needs nothing else: plotly.js, style and data are in it; a policy forbids the rest.

Every text is escaped by the template. Beyond that, the page's content security policy names its two scripts by their
hash: whatever else a text of a run might smuggle in does not run, and nothing can be loaded from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from labkit.experiments.report.blocks import Drawing, Section
from labkit.plots.html import plotly_js
from labkit.store.jsonl import cannot_write
from labkit.store.layout import replace_file

_TEMPLATES = Path(__file__).parent
_TICKED = re.compile("`([^`]+)`")
_SCRIPT, _PAGE = "draw.js.jinja", "page.jinja"


@dataclass(frozen=True, kw_only=True)
class Page:
    """What stands on it. `abstract`: sentences, `figures` under them; `kicker` and `byline`: lines around the title."""

    title: str
    kicker: str
    byline: str
    abstract: Sequence[str]
    sections: Sequence[Section]
    footer: str
    figures: Sequence[Drawing] = ()


@dataclass
class _Counter:
    """Numbers the figures of a page as the template comes to them."""

    n: int = field(default=0)

    def next(self) -> int:
        self.n += 1
        return self.n

    @property
    def used(self) -> bool:
        return self.n > 0


def to_html(page: Page) -> str:
    """The page as HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters["ticked"] = _ticked
    plotly, script = plotly_js(), (_TEMPLATES / _SCRIPT).read_text(encoding="utf-8")
    return environment.get_template(_PAGE).render(
        page=page, policy=_policy(plotly, script), plotly=plotly, script=script, counter=_Counter()
    )


def _ticked(text: str) -> Markup:
    """The text, escaped; what stands between backticks becomes code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))


def write(page: Page, path: Path) -> Path:
    """Write the page whole or not at all; makes the folder. Raises LabError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    replace_file(path, to_html(page).encode())
    return path


def _policy(*scripts: str) -> str:
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
