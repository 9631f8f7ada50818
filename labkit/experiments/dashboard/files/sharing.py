"""A view shared by its address: what the address carries, and how far it reaches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

_HERE = ("", "localhost", "127.0.0.1", "::1")
PAGES = (
    ("compare", "Compare", "what each layer gained"),
    ("layers", "Layers", "hits, transfers and drafts"),
    ("trajectory", "Trajectory", "an agent's steps, token by token"),
    ("capacity", "Capacity and cost", "agents that fit, and what a task costs"),
)
"""Pages that show a run: name in the address, title, what they show of it."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """One page with a run in its address. `shows`: what it shows of it."""

    page: str
    title: str
    shows: str
    address: str


def addresses(seen_at: str, run: str) -> tuple[Shared, ...]:
    """The pages that show this run. `seen_at`: the address of any page of the dashboard."""
    parts = urlsplit(seen_at)
    base = f"{parts.scheme or 'http'}://{parts.netloc}" if parts.netloc else ""
    query = urlencode({"run_id": run})
    return tuple(
        Shared(page=page, title=title, shows=shows, address=f"{base}/{page}?{query}") for page, title, shows in PAGES
    )


def reach(listens_at: str | None, examples: Collection[str], run: str) -> str:
    """Who can open such an address. `listens_at`: what the server listens at; None: at every address of the machine."""
    if run in examples:
        what = "The run came with the project, so the address opens it wherever the dashboard runs."
    else:
        what = "It names the run and holds none of it: whoever opens it needs the same folder of runs."
    if listens_at is not None and listens_at in _HERE:
        here = "It opens on this machine only, since the server listens at 127.0.0.1; elsewhere, send the run folder."
        return f"{what} {here}"
    return f"{what} The server listens at {listens_at or 'every address of this machine'}: others can open it, too."
