"""`labkit run`: the named experiments."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from labkit.cli.endpoint_options import attachable
from labkit.cli.run_options import Arms, Attach, Job, Json, Keep, Profile, Seed, SpecMethod, Steps, Strict
from labkit.experiments.catalogue import DEFAULT_PROFILE, EXPERIMENTS, QUICK_ARMS, QUICK_RECORDING, QUICK_STEPS

_QUICK_ARMS = ",".join(QUICK_ARMS)
group = typer.Typer(invoke_without_command=True, help="Run a named experiment; alone, list them.")


def register(app: typer.Typer) -> None:
    """Add `run` to the command line."""
    app.add_typer(group, name="run")


@group.callback()
def list_(context: typer.Context) -> None:
    """Run a named experiment; without a name, list what there is. Example: labkit run quick --help"""
    if context.invoked_subcommand:
        return
    table = Table("experiment", "what it answers", "takes", box=None, header_style="bold")
    for known in EXPERIMENTS:
        table.add_row(f"labkit {' '.join(known.command)}", known.question, known.takes)
    Console().print(table)


@group.command(epilog="Example: labkit run quick --steps 4 --arms base,prefix")
@attachable
def quick(
    profile: Profile = DEFAULT_PROFILE,
    recording: Annotated[str, typer.Option(help="A name of `labkit recordings`, or a .jsonl file.")] = QUICK_RECORDING,
    steps: Steps = QUICK_STEPS,
    arms: Arms = _QUICK_ARMS,
    spec_method: SpecMethod = None,
    strict: Strict = False,
    keep: Keep = False,
    seed: Seed = None,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
) -> None:
    """A first look at what each layer does, on this machine, in minutes.

    Replays the first steps of one recording in each arm: the recorded requests and history, and the engine's own text
    and stop. Arms that differ only in prefix caching share an engine, where the arm without it gets a fresh cache salt
    on every request. Ctrl-C keeps what was measured and ends the engines that this command started.
    """
    from labkit.cli.measuring import measure  # here: pandas and pyarrow would slow down every other command
    from labkit.experiments.asked import Asked, arms_of

    asked = Asked(
        profile=profile,
        recording=recording,
        arms=arms_of(arms),
        steps=steps,
        spec_method=spec_method,
        strict=strict,
        keep=keep,
        seed=seed,
        job=job,
    )
    measure("quick", asked, attached=attach or [], as_json=json)
