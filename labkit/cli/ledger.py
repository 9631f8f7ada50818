"""`labkit ledger`: where a run's seconds and prompt tokens went, in parts that add up, and what GPUs did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:  # pandas and pyarrow would slow down every other command
    import pandas as pd
    from rich.table import Table

    from labkit.experiments.compared import Part

_LARGEST = 8
"""Chunks of so many tokens or more share a column."""
_SECONDS = (
    "n: steps. lag: the client's. HTTP: the engine's server. KV: its transfer.\n"
    "?: share of the time, tools left out, that no clock names."
)
_TOKENS = (
    "cached, or else: evicted; away: other process; off: by the arm;\n"
    "blocks: not whole; drift: history reads otherwise; new: unseen."
)


def register(app: typer.Typer) -> None:
    """Add `ledger` to the command line."""
    app.command("ledger", epilog="Example: labkit ledger latest")(show_ledger)


def show_ledger(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Id, its start or end, `latest`, a folder or a .zip.")
    ] = "latest",
) -> None:
    """Show where a run's time went, why prompt tokens were computed again, how tokens were bundled, what GPUs did.

    Seconds and tokens are sums over each arm's finished steps, of cold and of warm passes apart. A dash is "not
    measured".

    Example: labkit ledger latest
    """
    from rich.console import Console
    from rich.text import Text

    from labkit.cli.arms_view import parts_of
    from labkit.cli.notes import client_line
    from labkit.store.runs import RunStore

    opened, console = RunStore().open(run), Console()
    samples = opened.samples()
    parts = parts_of(opened)
    tables = [table for part in parts for table in (*_tables(part), _gpus(part, samples)) if table is not None]
    if not tables:
        console.print("No step has finished.")
        return
    for table in tables:
        console.print(table, "")
    console.print(Text(f"client: {client_line(opened)}"), soft_wrap=True)


def _tables(part: Part) -> Iterable[Table | None]:
    from labkit.analysis.cache_gap import cache_gap
    from labkit.analysis.chunks import chunk_sizes
    from labkit.analysis.ledger import ledger
    from labkit.core.arms import ARMS

    steps, of_engines = part.steps, part.steps["arm"].isin([arm.label for arm in ARMS])
    return (
        _seconds(part, ledger(steps)),
        _tokens(part, cache_gap(steps[of_engines])),
        _bundles(part, chunk_sizes(part.chunks)),
    )


def _seconds(part: Part, rows: pd.DataFrame) -> Table | None:
    from labkit.analysis.format import count, percent, plain
    from labkit.analysis.ledger import PARTS

    names = {"client_lag": "lag", "server": "HTTP", "transfer": "KV", "tool": "tools"}
    heads = ("arm", "n", "wall", *(names.get(part, part) for part in PARTS), "?")
    cells = (
        (
            row["arm"],
            count(row["n"]),
            *(plain(row[name]) for name in ("wall", *PARTS)),
            percent(row["unaccounted_share"]),
        )
        for row in rows.to_dict("records")
    )
    table = _table(part.title("Where did the seconds go?"), heads, cells)
    if table:
        table.caption, table.caption_justify = _SECONDS, "left"
    return table


def _tokens(part: Part, rows: pd.DataFrame) -> Table | None:
    from labkit.analysis.format import count

    parts = {
        "cached": "cached",
        "eviction": "evicted",
        "routing": "away",
        "off": "off",
        "rounding": "blocks",
        "template_drift": "drift",
        "new": "new",
    }
    heads = ("arm", "n", "prompt", *parts.values())
    names = ("n", "prompt", *parts)
    table = _table(
        part.title("Why were prompt tokens computed again?"),
        heads,
        ((row["arm"], *(count(row[name]) for name in names)) for row in rows.to_dict("records")),
    )
    if table:
        table.caption, table.caption_justify = _TOKENS, "left"
    return table


def _bundles(part: Part, rows: pd.DataFrame) -> Table | None:
    from labkit.analysis.format import percent

    sizes = rows.assign(tokens=rows["tokens"].clip(upper=_LARGEST))
    shares = sizes.groupby(["arm", "tokens"], sort=False)["share"].sum().unstack()
    wide = [f"{size} or more" if int(size) == _LARGEST else str(size) for size in sorted(shares.columns)]
    return _table(
        part.title("How many tokens came in a chunk? (% of chunks)"),
        ("arm", *wide),
        ((arm, *(percent(row[size]) for size in sorted(shares.columns))) for arm, row in _each(shares)),
    )


def _gpus(part: Part, samples: pd.DataFrame) -> Table | None:
    from labkit.experiments.gpu_words import HEAD, arms_of_gpus, cells, note

    rows = arms_of_gpus(samples, part.steps)
    table = _table(part.title("What did the GPUs do?"), HEAD, map(cells, rows))
    if table:
        table.caption, table.caption_justify = note(rows), "left"
    return table


def _each(shares: pd.DataFrame) -> Iterable[tuple[str, Any]]:
    """A size that an arm has no chunk of is a measured 0."""
    return ((str(arm), row) for arm, row in shares.fillna(0.0).iterrows())


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table | None:
    """A plain table; None without a row."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=0, title=title)
    table.title_justify, table.title_style = "left", "bold"
    for at, head in enumerate(heads):
        table.add_column(head, justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table if table.row_count else None
