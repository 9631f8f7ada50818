"""A run as the requests that it sent, and the cells that belong together: what every exchange format starts from.

Those formats describe one benchmark of one setting. A run has many, so it is cut into *cells*: one arm, condition, way
of replaying, cache state and repeat. Pooling arms would be meaningless, pooling cold with warm misleading.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from labkit.core.records import StepRecord
from labkit.store.exports.streams import Stream, Streams
from labkit.store.runs import Run

_HTTP = re.compile(r"\bHTTP (\d{3})\b")


class Cell(NamedTuple):
    """What one exchange file is about."""

    arm: str
    condition: str
    mode: str
    history: str
    cache: str
    repeat: int

    @property
    def variation(self) -> str:
        """`prefix+pd,agents=4,cold`: without the repeat; `pinned` and `live` stand there where they apply."""
        unusual = (word for word in (self.mode, self.history) if word in ("pinned", "live"))
        return ",".join(filter(None, (self.arm, self.condition, *unusual, self.cache)))

    @property
    def label(self) -> str:
        """`prefix+pd,agents=4,cold,repeat=0`: also the name of its folder or file."""
        return re.sub(r"[^A-Za-z0-9+=.,_-]", "_", f"{self.variation},repeat={self.repeat}")


class Session(NamedTuple):
    """One agent's pass over one task."""

    cell: Cell
    recording: str
    task: str
    agent: str
    warmup: bool


@dataclass(frozen=True)
class Request:
    """A step and the chunks of its stream."""

    step: StepRecord
    stream: Stream

    @cached_property
    def cell(self) -> Cell:
        step = self.step
        return Cell(step.arm, step.condition, step.mode, step.history, step.cache, step.repeat)

    @cached_property
    def session(self) -> Session:
        return Session(self.cell, self.step.recording, self.step.task, self.step.agent, self.step.warmup)

    @property
    def problem(self) -> str | None:
        """Why there is no whole answer; None when there is one."""
        return self.step.error or ("the response did not end" if self.step.t_end is None else None)

    @property
    def http_status(self) -> int | None:
        """The status that the error names, as `HTTP 500` does."""
        found = _HTTP.search(self.step.error or "")
        return int(found[1]) if found else None

    @property
    def t_over(self) -> float:
        """The end of the response, or the last thing known of it: seconds since the run's start."""
        times = (self.step.t_end, self.step.t_last, self.step.t_first_token)
        return next((t for t in times if t is not None), self.step.t_send)


def requests_of(run: Run) -> list[Request]:
    """Every step of the run with its stream, in the order of the run."""
    streams = Streams(run.arrow("chunks"))
    steps = (StepRecord.from_dict(_without_nan(row)) for row in run.arrow("steps").to_pylist())
    return [Request(step, streams.take(step)) for step in steps]


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """NaN means the same as null in a column that may be null."""
    return {name: None if value != value else value for name, value in row.items()}


def by_cell(requests: Sequence[Request]) -> dict[Cell, list[Request]]:
    """The requests of each cell. What was thrown away of a load (its ramp and its drain) is of its condition.

    A block's warm-up is of none: it goes to the first cell of its arm and repeat.
    """
    cells: dict[Cell, list[Request]] = {r.cell: [] for r in requests if not r.step.warmup}
    first = {(cell.arm, cell.repeat): cell for cell in reversed(cells)}
    for request in requests:
        cell, home = request.cell, None
        if cell not in cells and not cell.condition:
            home = first.get((cell.arm, cell.repeat))
        cells.setdefault(home or cell, []).append(request)
    return cells


def by_session(requests: Iterable[Request]) -> dict[Session, list[Request]]:
    """The requests of each session, by the time they were sent."""
    found: dict[Session, list[Request]] = {}
    for request in sorted(requests, key=lambda r: r.step.t_send):
        found.setdefault(request.session, []).append(request)
    return found


def undisturbed(mine: Sequence[Request], everyone: Sequence[Request]) -> bool:
    """Whether no request of another cell ran between the first send and the last end of `mine`, all of one cell.

    Only then is that time a duration of this cell: in a block-randomised run other arms may have run in between. The
    ramp and the drain of a load are the cell's own.
    """
    start, end = min(r.step.t_send for r in mine), max(r.t_over for r in mine)
    own = mine[0].cell
    return not any(r.cell != own and r.step.t_send < end and r.t_over > start for r in everyone)


def stable_id(*words: object, digits: int = 32) -> str:
    """Hex digits that follow from the words alone: exporting twice gives the same file."""
    return hashlib.sha256("\x1f".join(map(str, words)).encode()).hexdigest()[:digits]
