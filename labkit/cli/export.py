"""`labkit export`: a run in the files that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

_FORMATS = "csv, parquet, json, aiperf, llmd, otlp, perfetto, or all of these (a folder each); folder: the run, zipped."
_EXAMPLES = (
    "Examples: [bold]labkit export latest --format csv --out results[/bold]; "
    "[bold]labkit export latest --format perfetto[/bold], then open trace.json at ui.perfetto.dev; "
    "[bold]labkit export latest --format aiperf --out DIR[/bold], then aiperf plot DIR"
)
_OPENS = {
    "aiperf": "A folder per arm, condition, cache state and repeat: `aiperf plot` and whatever reads AIPerf's exports.",
    "llmd": "A report per arm, condition, cache state and repeat: llm-d-benchmark and llm-d-prism.",
    "otlp": "A trace per line: an OpenTelemetry collector's otlpjsonfile receiver, or POST a line to /v1/traces.",
    "folder": "It opens elsewhere: labkit show FILE.zip. It holds what was said, where the run kept that.",
    "perfetto": "Open it at https://ui.perfetto.dev (the page reads it where it is; nothing is sent).",
}


def register(app: typer.Typer) -> None:
    """Add `export` to the command line."""
    app.command("export", epilog=_EXAMPLES)(export_run)


def export_run(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id, its start or end, `latest`, a folder or a .zip.")],
    fmt: Annotated[str, typer.Option("--format", help=_FORMATS)] = "csv",
    out: Annotated[Path | None, typer.Option(help="Folder to write to; default: <run>-<format> here.")] = None,
) -> None:
    """Write a run for other tools: its tables, or AIPerf's, llm-d's, OpenTelemetry's or Perfetto's files.

    Every number keeps its tool's definition; what was not measured is absent, never 0.

    The files written are printed, one a line.
    """
    # Here: pandas and pyarrow would slow down every other command.
    from labkit.cli.progress_view import drawn
    from labkit.experiments.exported import tables_of
    from labkit.store.exports import export
    from labkit.store.runs import RunStore

    opened, notes = RunStore().open(run), Console(stderr=True)
    with drawn(notes) as progress:
        files = export(opened, fmt, out or Path(f"{opened.id}-{fmt}"), tables_of(opened), progress)
    for path in files:
        typer.echo(path)
    if fmt in _OPENS:
        notes.print(_OPENS[fmt], markup=False, highlight=False, soft_wrap=True)
