"""`labkit models`: which models there are, fetch one, where is it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table

from labkit.core.errors import WeightsError
from labkit.core.progress import OnProgress, Progress
from labkit.engines import weights

group = typer.Typer(no_args_is_help=True, help="Models: list them, fetch one, say where it is.")
DEFAULT = weights.list_models()[0].name
Name = Annotated[str, typer.Argument(help="A name of the lab, a folder, or a Hugging Face id (owner/name).")]


def register(app: typer.Typer) -> None:
    """Add `models` to the command line."""
    app.add_typer(group, name="models")


@group.command("list", epilog="Example: labkit models list")
def list_() -> None:
    """The models that have a name, and whether each is ready to use."""
    table = Table(box=None, header_style="bold")
    for heading in ("name", "ready", "size", "licence", "what it is"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for model in weights.list_models():
        ready = "yes" if model.fetched else f"no: {model.problem}"
        table.add_row(model.name, ready, f"{model.disk_mb} MB", model.licence, model.about)
    Console().print(table)
    typer.echo(
        "\nA folder with config.json, *.safetensors and a tokenizer will do too, or a Hugging Face id (owner/name)."
    )


@group.command("fetch", epilog="Example: labkit models fetch smollm2-135m-instruct")
def fetch(name: Name = DEFAULT) -> None:
    """Download a model and convert it once; one that is there is checked and left alone."""
    if wrong := damage(name):
        typer.echo(f"{wrong} It is fetched again.", err=True)
    typer.echo(f"{name} is ready in {_fetch(name)}")


@group.command("path", epilog="Example: labkit models path smollm2-135m-instruct --verify")
def path(
    name: Name = DEFAULT,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the checksums of all files, not only sizes.")
    ] = False,
) -> None:
    """Print the folder of a model that has been fetched, and nothing else."""
    typer.echo(weights.path(name, verify=verify))


def damage(name: str) -> str:
    """What is wrong with the files of a model of the lab that are there; empty when nothing is, or none are."""
    if not any(model.name == name and model.folder.exists() for model in weights.list_models()):
        return ""
    try:
        weights.path(name, verify=True)
    except WeightsError as error:
        return error.message
    return ""


def _fetch(name: str) -> Path:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        return weights.fetch(name, _drawn(bars))


def _drawn(bars: Bars) -> OnProgress:
    """Draw progress as one bar; away from a terminal, print a line when the stage changes."""
    task, stages = bars.add_task("", total=None), [""]

    def show(at: Progress) -> None:
        bars.update(task, description=f"{at.stage} {at.message}", completed=at.done or 0, total=at.total)
        if at.stage != stages[-1]:
            stages.append(at.stage)
            if not bars.console.is_terminal:
                bars.console.print(f"{at.stage}: {at.message}", soft_wrap=True)

    return show
