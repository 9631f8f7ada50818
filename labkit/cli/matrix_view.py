"""A matrix as a terminal shows it, and the wait while the engine is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from labkit.core.progress import OnProgress, Progress
from labkit.experiments.matrix.records import Known, KnownCell, KnownTable
from labkit.experiments.matrix.words import columns, counted, how_far, note, notes, rows, short, title

_STYLES = {"measured here": "green", "measured elsewhere": "cyan", "refused": "red", "not tried": "yellow"}


def matrix_view(known: Known) -> None:
    """Print the tables, their notes, the counts and how far acceptance goes."""
    console, numbers = Console(), notes(known.cells)
    for table in known.tables:
        wide = _table(table, numbers)
        fits = Console(width=1000).measure(wide).maximum <= console.width
        console.print(wide if fits else _table(table, numbers, narrow=True))
    for text, number in numbers.items():
        console.print(Text(f"[{number}] {' '.join(text.split())}"))
    console.print(Text(f"{counted(known)}.", "bold"))
    console.print(Text(how_far(known)))


def _table(table: KnownTable, numbers: dict[str, int], *, narrow: bool = False) -> Table:
    heads = columns(table)
    shown = Table(title=title(table), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in ("arm", *heads):
        shown.add_column(head, no_wrap=head == "arm", overflow="fold")  # a name is never cut
    for arm, cells in rows(table).items():
        shown.add_row(Text(arm, "bold"), *(_cell(cells.get(head), numbers, narrow=narrow) for head in heads))
    return shown


def _cell(cell: KnownCell | None, numbers: dict[str, int], *, narrow: bool) -> Text:
    """Empty where the arm has no such cell."""
    if cell is None:
        return Text("")
    number = numbers.get(note(cell))
    words = short(cell, narrow=narrow)
    return Text(f"{words} [{number}]" if number else words, _STYLES.get(cell.status, ""))


@contextmanager
def asking() -> Iterator[OnProgress]:
    """A bar on stderr while the engine is asked; without a terminal, a line for each stage."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Bars(*columns, TimeElapsedColumn(), console=console, transient=True) as bars:
        task = bars.add_task("asking", total=None)
        said: list[str] = []

        def show(at: Progress) -> None:
            bars.update(task, description=at.said, completed=at.done or 0, total=at.total)
            if not console.is_terminal and at.said not in said:
                said.append(at.said)
                console.print(at.said, soft_wrap=True)

        yield show
