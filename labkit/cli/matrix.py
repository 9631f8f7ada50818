"""`labkit matrix`: what is known of each arm, with each drafter, over each transfer. Generated, never typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labkit.cli.plan import DEFAULT_PROFILE, ProfileOption

if TYPE_CHECKING:
    from labkit.engines.accepts.plans import PlansTold
    from labkit.experiments.matrix import Known


def register(app: typer.Typer) -> None:
    """Add `matrix` to the command line."""
    app.command(epilog="Example: labkit matrix --profile mi300x-8-qwen3-235b")(matrix)


def matrix(
    profile: ProfileOption = DEFAULT_PROFILE,
    ask: Annotated[bool, typer.Option("--ask", help="Ask the engine that is installed here; keep nothing.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask it, and keep its answers in data/matrix.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Every cell as JSON.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="For a document: without this machine's own runs.")
    ] = False,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write every matrix between the markers of this document.")
    ] = None,
) -> None:
    """Say of every cell one thing: measured, accepted by the parser, refused with these words, or not tried.

    Answers are the kept ones; where there are none, the engine that is installed is asked (20 s).
    """
    from labkit.experiments.matrix import as_markdown, write_between_markers
    from labkit.experiments.matrix import matrix as made

    if write is not None:
        found = write_between_markers(write, lambda name: as_markdown(made(name)))
        return typer.echo(f"{write}: {', '.join(found)}")
    told = _told(profile, ask=ask, refresh=refresh)
    if markdown:
        return typer.echo(as_markdown(made(profile, told=told)), nl=False)
    from labkit.store.runs import RunStore

    return _show(made(profile, told=told, store=RunStore()), as_json=as_json)


def _told(profile: str, *, ask: bool, refresh: bool) -> PlansTold | None:
    """What the engine says now; None: the kept answers do."""
    from labkit.engines.profiles import load_profile
    from labkit.experiments.matrix import read_told

    kept = read_told(load_profile(profile).name)
    if kept and not (ask or refresh):
        return None
    told = _asked(profile)
    if refresh:
        _keep(told, profile)
    if kept and not (told and told.version):
        typer.echo(f"{kept.engine} cannot be asked here: these are the kept answers", err=True)
        return None
    return told


def _asked(profile: str) -> PlansTold | None:
    from labkit.cli.matrix_view import asking
    from labkit.experiments.matrix import ask_engine

    with asking() as on_progress:
        return ask_engine(profile, on_progress)


def _keep(told: PlansTold | None, profile: str) -> None:
    from labkit.core.errors import EngineError
    from labkit.experiments.matrix import keep_told
    from labkit.experiments.matrix.cells import cell_tables

    if told is None:
        raise EngineError(f"no engine can be asked about the plans of {profile}", "labkit matrix shows what is known.")
    typer.echo(f"kept in {keep_told(told, cell_tables(profile))}", err=True)


def _show(known: Known, *, as_json: bool) -> None:
    from labkit.cli.matrix_view import matrix_view
    from labkit.experiments.matrix.words import how_far

    if as_json:
        whole = {**known.to_dict(), "counts": known.counts, "how_far": how_far(known)}
        return typer.echo(json.dumps(whole, indent=1, ensure_ascii=False))
    return matrix_view(known)
