"""`labkit run speculation`: drafters by kind of step and depth of turn."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.endpoint_options import attachable
from labkit.cli.replay import History
from labkit.cli.run import group
from labkit.cli.run_options import Attach, Job, Json, Keep, Profile, Recordings, Repeats, Seed, Steps, Strict, Told
from labkit.experiments.catalogue import DEFAULT_PROFILE
from labkit.experiments.speculation import SPECULATION_RECORDINGS

if TYPE_CHECKING:
    from labkit.core.progress import OnProgress
    from labkit.experiments.runner import OnCreated
    from labkit.store.runs import Run

_RECORDINGS = ",".join(SPECULATION_RECORDINGS)


def register(app: typer.Typer) -> None:
    """Add the command to `labkit run`."""
    group.command(epilog="Example: labkit run speculation --methods ngram,draft_model --repeats 3 --seed 1")(
        speculation
    )


@attachable
def speculation(
    profile: Profile = DEFAULT_PROFILE,
    methods: Annotated[str, typer.Option(help="Drafters of the profile, with commas between; default: all.")] = "",
    recordings: Recordings = _RECORDINGS,
    arm: Annotated[
        str, typer.Option(help="spec, prefix+spec, pd+spec or all; beside it the same without.")
    ] = "prefix+spec",
    steps: Steps = None,
    repeats: Repeats = 1,
    seed: Seed = None,
    history: Annotated[History, typer.Option(help=Told)] = History.recorded,
    strict: Strict = False,
    keep: Keep = False,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
) -> None:
    """Which drafter guesses what, and where it costs more than it gives: by kind of step and depth of turn.

    Replies are always natural: acceptance of text that the model was forced to write would be nobody's. A drafter that
    the engine refuses is named with the engine's own words, and the others are measured.
    """
    from functools import partial

    from labkit.cli.measuring import conduct, provider, refuse_busy
    from labkit.cli.speculation_view import show
    from labkit.engines.fleet import Fleet
    from labkit.engines.profiles import load_profile
    from labkit.experiments.asked import recordings_of
    from labkit.experiments.attached.provider import AttachedProvider
    from labkit.experiments.fleet_provider import FleetProvider
    from labkit.experiments.runner import run_design
    from labkit.experiments.speculation import SpeculationAsked

    asked = SpeculationAsked(
        profile=profile, methods=tuple(filter(None, methods.replace(" ", "").split(","))),
        recordings=recordings_of(recordings), arm=arm, steps=steps, repeats=repeats, seed=seed, history=history.value,
        strict=strict, keep=keep, job=job,
    )  # fmt: skip
    known = load_profile(profile or DEFAULT_PROFILE)  # a profile names the drafters
    design, first = asked.design(known), asked.drafters(known)[0]
    engines = provider(profile, attach or [], spec_method=first, strict=strict)
    if isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(block.arm, block.spec_method) for block in design.blocks])
    if isinstance(engines, AttachedProvider):
        engines.require([block.arm for block in design.blocks], [block.spec_method for block in design.blocks])

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_design(
            "speculation", asked, design, engines, keep=keep, on_progress=on_progress, on_created=on_created
        )  # fmt: skip

    conduct(work, partial(show, as_json=json), job=job, as_json=json)
