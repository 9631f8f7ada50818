"""How the fleet looks in a terminal: the table of `labkit ps`, and the start that `labkit up` waits for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from labkit.analysis.format import DASH
from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, Progress
from labkit.engines.registry import Engine

_STYLES = {"up": "green", "starting": "cyan", "dead": "red", "orphaned": "yellow"}
_ALWAYS, _WITH_ROOM = ("engine", "status", "url", "up for"), ("serves", "processes")
_EVERY_S = 10.0


def print_engines(engines: Sequence[Engine], console: Console, left: Collection[str] = ()) -> None:
    """Everything about each where it fits, else what is always wanted; ids and addresses are never cut or wrapped.

    `left`: ids of those that are up although the run that started them is gone.
    """
    tables = [
        _table(engines, (*_ALWAYS, *_WITH_ROOM), left),
        _table(engines, _ALWAYS, left),
        _table(engines, _ALWAYS, left, tight=True),
    ]
    needs = [Console(width=1000).measure(table).maximum for table in tables]
    chosen = next((n for n, need in enumerate(needs) if need <= console.width), len(tables) - 1)
    console.width = max(console.width, needs[chosen])
    console.print(tables[chosen])


def _table(engines: Sequence[Engine], columns: Sequence[str], left: Collection[str], *, tight: bool = False) -> Table:
    """`tight`: narrow gaps, and no word about which process has died."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0) if tight else (0, 1))
    for name in columns:
        table.add_column(name, no_wrap=True)
    for engine in engines:
        cells = _cells(engine, tight, engine.id in left)
        table.add_row(*(cells[name] for name in columns))
    return table


def _cells(engine: Engine, tight: bool, left: bool) -> dict[str, Text]:
    roles = ", ".join(f"{process.role} {process.pid}" for process in engine.processes)
    texts = {"engine": engine.id, "url": engine.base_url, "up for": _age(engine)}
    texts |= {"serves": engine.model, "processes": roles}
    return {name: Text(text) for name, text in texts.items()} | {"status": _status(engine, tight, left)}


def _status(engine: Engine, tight: bool, left: bool) -> Text:
    if left:
        return Text("left" if tight else "left (its run is gone)", _STYLES["orphaned"])
    dead = [] if tight else engine.dead_roles
    words = f"dead ({', '.join(dead)} ended)" if engine.status == "dead" and dead else engine.status
    return Text(words, _STYLES[engine.status])


def _age(engine: Engine) -> str:
    """`40 s`, `12 min`, `3 h 5 min`; a dash for one that has died."""
    if engine.status == "dead":
        return DASH
    started = min((process.created for process in engine.processes), default=engine.owner.created)
    seconds = max(0, int(SystemClock().wall().timestamp() - started))
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{seconds} s"


@contextmanager
def start_drawn(console: Console, arm: str, expected_s: float) -> Iterator[OnProgress]:
    """Draw a start while the block runs: a bar on a terminal, a line each ten seconds anywhere else."""
    if not console.is_terminal:
        yield Lines(console, SystemClock())
        return
    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"))
    with Bars(*columns, console=console, transient=True) as bar:
        line = bar.add_task(f"starting {arm}", total=expected_s)

        def show(now: Progress) -> None:
            bar.update(line, description=now.message, completed=min(now.done or 0.0, now.total or 1e9), total=now.total)

        yield show


class Lines:
    """Prints the first that is reported, then one each ten seconds."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console, self._clock = console, clock
        self._due = clock.now()

    def __call__(self, now: Progress) -> None:
        if self._clock.now() < self._due:
            return
        self._due = self._clock.now() + _EVERY_S
        self._console.print(f"{now.stage}: {now.message}", markup=False, highlight=False, soft_wrap=True)
