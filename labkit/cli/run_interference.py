"""`labkit run interference`: agents in each other's way, colocated and split."""

from __future__ import annotations

from typing import Annotated

import typer

from labkit.cli.endpoint_options import attachable
from labkit.cli.load_options import ALL_RECORDINGS, Gaps, Recordings, Seed, Stagger, Window, conduct_load
from labkit.cli.replay import History, Mode
from labkit.cli.run import group
from labkit.cli.run_options import Arms, Attach, Job, Json, Keep, Profile, SpecMethod, Steps, Strict
from labkit.experiments.catalogue import DEFAULT_PROFILE


def register(app: typer.Typer) -> None:
    """Add the command to `labkit run`."""
    group.command(epilog="Example: labkit run interference --agents 1,2 --window 30 --arms prefix,prefix+pd")(
        interference
    )


@attachable
def interference(
    profile: Profile = DEFAULT_PROFILE,
    recordings: Recordings = ALL_RECORDINGS,
    arms: Arms = "prefix,prefix+pd",
    agents: Annotated[str, typer.Option(help="Agents at once, with commas between; 1 among them.")] = "1,2,4",
    window: Window = 60.0,
    repeats: Annotated[int, typer.Option(min=1, help="Times that each arm is measured at every level.")] = 1,
    steps: Steps = None,
    stagger: Stagger = 3.0,
    gaps: Gaps = True,
    mode: Annotated[
        Mode, typer.Option(help="natural: the engine's own text and stop. pinned: the recorded length, for time only.")
    ] = Mode.natural,
    history: Annotated[
        History, typer.Option(help="Whose text goes into the next turn: the recorded, or the engine's own (live).")
    ] = History.recorded,
    seed: Seed = 0,
    spec_method: SpecMethod = None,
    strict: Strict = False,
    keep: Keep = False,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
) -> None:
    """How much do agents slow each other down, and does splitting prefill from decode help?

    Several agents replay recordings at once on one engine, each in a closed loop under cache salts of its own. What
    counts is sent while all of them are at work. One agent alone says what a stall is: a gap between chunks of more
    than three times its median, and of more than 0.2 s. On two cores both sides of a split share them.
    """
    from functools import partial

    from labkit.cli.load_view import show_interference
    from labkit.experiments.asked import arms_of, recordings_of
    from labkit.experiments.interference import InterferenceAsked
    from labkit.experiments.load import levels_of

    asked = InterferenceAsked(
        profile=profile,
        recordings=recordings_of(recordings),
        arms=arms_of(arms),
        agents=levels_of(agents),
        window=window,
        repeats=repeats,
        steps=steps,
        stagger=stagger,
        gaps=gaps,
        mode=mode.value,
        history=history.value,
        seed=seed,
        spec_method=spec_method,
        strict=strict,
        keep=keep,
        job=job,
    )
    shown = partial(show_interference, as_json=json)
    conduct_load("interference", asked, asked.design(), shown, attached=attach or [], as_json=json)
