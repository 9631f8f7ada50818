"""`labkit run capacity`: the most agents that are served well enough."""

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
    group.command(epilog="Example: labkit run capacity --ttft 3 --itl 0.5 --share 0.9 --max-agents 8")(capacity)


@attachable
def capacity(
    profile: Profile = DEFAULT_PROFILE,
    recordings: Recordings = ALL_RECORDINGS,
    arms: Arms = "base,prefix",
    ttft: Annotated[float, typer.Option(help="A good request has its first token within so many seconds.")] = 3.0,
    itl: Annotated[float, typer.Option(help="99 % of the gaps in a good request's stream last at most so long.")] = 0.5,
    share: Annotated[float, typer.Option(help="So many of the requests sent must be good, such as 0.9.")] = 0.9,
    max_agents: Annotated[int, typer.Option(min=1, help="Where to stop, if it still holds there.")] = 8,
    window: Window = 60.0,
    repeats: Annotated[int, typer.Option(min=1, help="Windows at each level.")] = 1,
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
    """How many agents can an engine serve well enough?

    A search: agents are doubled until the objective breaks, then the gap is halved, each time over a window under
    steady load; an engine is not restarted in between. A request that failed is not good. The answer has a 95 %
    interval; it is about these recordings and this machine.
    """
    from functools import partial

    from labkit.cli.load_view import show_capacity
    from labkit.experiments.asked import arms_of, recordings_of
    from labkit.experiments.capacity_asked import CapacityAsked

    asked = CapacityAsked(
        profile=profile,
        recordings=recordings_of(recordings),
        arms=arms_of(arms),
        ttft=ttft,
        itl=itl,
        share=share,
        max_agents=max_agents,
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
    shown = partial(show_capacity, as_json=json)
    conduct_load("capacity", asked, asked.design(), shown, attached=attach or [], as_json=json)
