"""What swim lanes are drawn from: who did what when, on one clock. Small: a page asks for them every second."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.plots.frame import Caption


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A row of the figure. `label`: who it is; `arm`: set where all of the lane is of one arm."""

    label: str
    arm: str = ""


@dataclass(frozen=True, kw_only=True)
class Span:
    """One part of one step, as labkit.analysis.spans names it; `lane` counts from 0, times are seconds on the axis."""

    lane: int
    part: str
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class StepBox:
    """One step. `key`: run, arm, task, recording, agent, repeat, turn, condition, cache, as an address says them.

    `words`: what it was.
    `cached`: share of its prompt that came from the cache, None where nobody said.
    """

    lane: int
    start: float
    end: float
    key: tuple[str, ...]
    words: tuple[str, ...]
    cached: float | None = None
    failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A while in which a lane's steps were served by one arm. `shown`: whether its label is written."""

    lane: int
    arm: str
    start: float
    end: float
    shown: bool = True


@dataclass(frozen=True, kw_only=True)
class Flight:
    """A step that was sent and has not ended, drawn up to now."""

    lane: int
    start: float
    end: float
    words: str


@dataclass(frozen=True, kw_only=True)
class Bins:
    """Many spans at once: for each lane, what took most of each `width` seconds.

    `cells[lane][bin]`: 0 where nothing went on, else a position in `parts`, counted from 1.
    """

    start: float
    width: float
    parts: tuple[str, ...]
    cells: tuple[bytes, ...]

    def of(self, lane: int) -> tuple[str, ...]:
        """The lane's cells in words; empty where nothing went on."""
        return tuple(("", *self.parts)[cell] for cell in self.cells[lane])


@dataclass(frozen=True, kw_only=True)
class LanesInfo:
    """The lanes from above, what is in them, and the part of the clock that is shown (s).

    Either `spans` and `steps`, or `bins` where these would be too many.
    """

    caption: Caption
    lanes: tuple[Lane, ...] = ()
    spans: tuple[Span, ...] = ()
    steps: tuple[StepBox, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    flights: tuple[Flight, ...] = ()
    bins: Bins | None = None
    start: float = 0.0
    end: float = 0.0
    axis: str = "seconds"
