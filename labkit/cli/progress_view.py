"""How a run's progress looks: one moving line with the time left on a terminal, a line per step anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars

from labkit.core.progress import OnProgress, Progress


@contextmanager
def drawn(console: Console) -> Iterator[OnProgress]:
    """Draw what is reported while the block runs."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TextColumn("{task.fields[left]}"), console=console, transient=True) as bars:
        task = bars.add_task("getting ready", total=None, left="")

        def draw(progress: Progress) -> None:
            said = escape(f"{progress.stage}: {progress.message}" if progress.message else progress.stage)
            bars.update(
                task, description=said, completed=progress.done, total=progress.total, left=time_left(progress.eta_s)
            )

        yield draw


class _Lines:
    """One line per stage and per finished step; what only counts seconds is left out."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: tuple[str, float | None] = ("", None)

    def __call__(self, progress: Progress) -> None:
        if (progress.stage, progress.done) == self._last:
            return
        self._last = (progress.stage, progress.done)
        count = "" if progress.total is None else f"{progress.done or 0:.0f}/{progress.total:.0f}  "
        said = f"{count}{progress.stage}  {progress.message}  {time_left(progress.eta_s)}".rstrip()
        self._console.print(said, markup=False, highlight=False, soft_wrap=True)


def time_left(eta_s: float | None) -> str:
    """`about 3 min left`; empty when nobody knows."""
    if eta_s is None:
        return ""
    return f"about {eta_s:.0f} s left" if eta_s < 90 else f"about {eta_s / 60:.0f} min left"
