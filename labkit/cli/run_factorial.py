"""`labkit run factorial`: the eight arms on the same requests of several recordings."""

from __future__ import annotations

from typing import Annotated

import typer

from labkit.cli.endpoint_options import OPTIONS, attachable
from labkit.cli.ray_option import Ray
from labkit.cli.replay import History, Mode
from labkit.cli.run import group
from labkit.cli.run_options import Attach, Job, Json, Keep, Profile, SpecMethod, Strict
from labkit.core.errors import BadInput
from labkit.experiments.catalogue import DEFAULT_PROFILE
from labkit.experiments.factorial import FACTORIAL_ARMS, FACTORIAL_RECORDINGS, FACTORIAL_REPEATS, FACTORIAL_STEPS

_BESIDE_RESUME = OPTIONS | {"resume", "resume_anyway", "json", "job", "attach"}


def register(app: typer.Typer) -> None:
    """Add the command to `labkit run`."""
    group.command(
        epilog="Example: labkit run factorial --repeats 3 --seed 1. After a kill: labkit run factorial --resume latest"
    )(factorial)


@attachable
def factorial(
    context: typer.Context,
    profile: Profile = DEFAULT_PROFILE,
    recordings: Annotated[
        str, typer.Option(help="Names of `labkit recordings`, or .jsonl files, with commas between.")
    ] = ",".join(FACTORIAL_RECORDINGS),
    arms: Annotated[str, typer.Option(help="Labels with commas between.")] = ",".join(FACTORIAL_ARMS),
    steps: Annotated[int, typer.Option(min=0, help="Only the first so many of each; 0: all.")] = FACTORIAL_STEPS,
    repeats: Annotated[int, typer.Option(min=1, help="Blocks of each arm; 1 cannot tell times.")] = FACTORIAL_REPEATS,
    seed: Annotated[int | None, typer.Option(help="Of the order of blocks; default: drawn, and kept.")] = None,
    warm: Annotated[bool, typer.Option("--warm", help="After each cold pass a warm one of the same requests.")] = False,
    drift_check: Annotated[
        bool, typer.Option("--drift-check/--no-drift-check", help="Measure the first arm again at the end.")
    ] = True,
    mode: Annotated[
        Mode, typer.Option(help="natural: the engine's own text and stop. pinned: the recorded length, for time only.")
    ] = Mode.natural,
    history: Annotated[
        History, typer.Option(help="Whose text goes into the next turn: the recorded, or the engine's own (live).")
    ] = History.recorded,
    gaps: Annotated[bool, typer.Option("--gaps", help="Wait the recorded time between steps, tools included.")] = False,
    spec_method: SpecMethod = None,
    strict: Strict = False,
    keep: Keep = False,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="Go on with a run that was cut short; takes no other option.")
    ] = None,
    resume_anyway: Annotated[
        bool, typer.Option("--resume-anyway", help="... although machine, engines or code are not as they were.")
    ] = False,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
    ray: Ray = None,
) -> None:
    """Which layers pay off, alone and together: all eight arms, each layer's gain with its interval.

    The same requests of several recordings in every arm, in block-randomised order, the first arm once more at the end.
    Says how long it will take before it starts. Ctrl-C and kill -9 lose the pass in flight at most: see --resume.
    """
    from labkit.cli.factorial_view import go_on, start  # here: pandas and pyarrow would slow down every other command
    from labkit.experiments.asked import arms_of, recordings_of
    from labkit.experiments.factorial import FactorialAsked, drawn_seed

    if resume is not None:
        _refuse_others(context)
        go_on(resume, anyway=resume_anyway, attached=attach or [], job=job, as_json=json)
    if resume_anyway:
        raise BadInput("resume-anyway", True, "together with --resume RUN")
    asked = FactorialAsked(
        profile=profile,
        recordings=recordings_of(recordings),
        arms=arms_of(arms),
        steps=steps,
        repeats=repeats,
        seed=drawn_seed() if seed is None else seed,
        warm=warm,
        drift_check=drift_check,
        history=history.value,
        mode=mode.value,
        gaps=gaps,
        spec_method=spec_method,
        strict=strict,
        keep=keep,
        job=job,
    )
    if ray is not None:
        from labkit.cli.spread_view import spread_factorial

        spread_factorial(asked, address=ray, attached=attach or [], as_json=json)
    start(asked, attached=attach or [], as_json=json)


def _refuse_others(context: typer.Context) -> None:
    """Raises BadInput for an option beside --resume: the run's own `run.json` says what was asked."""
    sources = {name: context.get_parameter_source(name) for name in context.params if name not in _BESIDE_RESUME}
    if others := [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]:
        flag = "--" + others[0].replace("_", "-")
        raise BadInput(flag, context.params[others[0]], "--resume alone", "The run keeps what was asked of it.")
