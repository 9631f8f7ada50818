"""How a run's progress looks: one moving line with the time left on a terminal, a line per step anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars

from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, Progress, time_left

_LINE_EVERY_S = 10.0


@contextmanager
def drawn(console: Console, clock: Clock | None = None) -> Iterator[OnProgress]:
    """Draw what is reported while the block runs."""
    if not console.is_terminal:
        yield _Lines(console, clock or SystemClock())
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TextColumn("{task.fields[left]}"), console=console, transient=True) as bars:
        task = bars.add_task("getting ready", total=None, left="")

        def draw(progress: Progress) -> None:
            said, left = escape(progress.said), time_left(progress.eta_s)
            bars.update(task, description=said, completed=progress.done, total=progress.total, left=left)

        yield draw


class _Lines:
    """One line per stage and per finished step, and one each 10 s of a stage that only counts seconds."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console, self._clock = console, clock
        self._last: tuple[str, float | None] = ("", None)
        self._next_s = 0.0

    def __call__(self, progress: Progress) -> None:
        now = self._clock.now()
        if (progress.stage, progress.done) == self._last and now < self._next_s:
            return
        self._last, self._next_s = (progress.stage, progress.done), now + _LINE_EVERY_S
        count = "" if progress.total is None else f"{progress.done or 0:.0f}/{progress.total:.0f}  "
        said = ", ".join(filter(None, (f"{count}{progress.said}", time_left(progress.eta_s))))
        self._console.print(said, markup=False, highlight=False, soft_wrap=True)
