"""`labkit replay`: any recording, any arms."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from labkit.cli.endpoint_options import attachable
from labkit.cli.ray_option import Ray
from labkit.cli.run_options import Arms, Attach, Job, Json, Keep, Profile, Seed, SpecMethod, Steps, Strict
from labkit.experiments.catalogue import DEFAULT_PROFILE


class Mode(StrEnum):
    natural = "natural"
    pinned = "pinned"


class History(StrEnum):
    recorded = "recorded"
    live = "live"


def register(app: typer.Typer) -> None:
    """Add `replay` to the command line."""
    app.command(epilog="Example: labkit replay RECORDING --arms base,prefix --repeats 3 --seed 1")(replay)


@attachable
def replay(
    recording: Annotated[str, typer.Argument(help="A name of `labkit recordings`, or a .jsonl file.")],
    profile: Profile = DEFAULT_PROFILE,
    arms: Arms = "base,prefix",
    steps: Steps = None,
    repeats: Annotated[int, typer.Option(min=1, help="Passes over the recording in each arm.")] = 1,
    seed: Seed = None,
    drift_check: Annotated[bool, typer.Option("--drift-check", help="Measure the first arm again at the end.")] = False,
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
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
    ray: Ray = None,
) -> None:
    """Send a recording's requests again under several arms, and compare them step by step.

    Every pass has a cache salt of its own, so nothing is warm from before. Without --gaps the time that tools took is
    left out, which favours prefix caching on a small cache; the result says which it was.

    Example: labkit replay RECORDING --arms base,prefix --repeats 3 --seed 1
    """
    from labkit.cli.measuring import measure  # here: pandas and pyarrow would slow down every other command
    from labkit.experiments.asked import Asked, arms_of

    asked = Asked(
        profile=profile,
        recording=recording,
        arms=arms_of(arms),
        steps=steps,
        repeats=repeats,
        seed=seed,
        drift_check=drift_check,
        mode=mode.value,
        history=history.value,
        gaps=gaps,
        spec_method=spec_method,
        strict=strict,
        keep=keep,
        job=job,
    )
    if ray is not None:
        from labkit.cli.spread_view import spread_replay

        spread_replay(asked, address=ray, attached=attach or [], as_json=json)
    measure("replay", asked, attached=attach or [], as_json=json)
