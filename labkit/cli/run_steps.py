"""`labkit run steps`: the same agent cut after 1, 5, 15, 30 steps."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.endpoint_options import attachable
from labkit.cli.replay import History, Mode
from labkit.cli.run import group
from labkit.cli.run_options import (
    Arms,
    Attach,
    Job,
    Json,
    Keep,
    Profile,
    Recordings,
    Repeats,
    Seed,
    SpecMethod,
    Strict,
    Told,
)
from labkit.experiments.catalogue import DEFAULT_PROFILE
from labkit.experiments.steps import LONG_RECORDING

if TYPE_CHECKING:
    from labkit.core.progress import OnProgress
    from labkit.experiments.runner import OnCreated
    from labkit.store.runs import Run


def register(app: typer.Typer) -> None:
    """Add the command to `labkit run`."""
    group.command(epilog="Example: labkit run steps --counts 1,5,15,30 --arms base,prefix --repeats 3 --seed 1")(steps)


@attachable
def steps(
    profile: Profile = DEFAULT_PROFILE,
    counts: Annotated[str, typer.Option(help="Cut the agent after so many steps; with commas between.")] = "1,5,15,30",
    recordings: Recordings = LONG_RECORDING,
    arms: Arms = "base,prefix",
    repeats: Repeats = 1,
    seed: Seed = None,
    history: Annotated[History, typer.Option(help=Told)] = History.recorded,
    mode: Annotated[
        Mode, typer.Option(help="pinned: replies of the recorded length. natural: as the engine likes.")
    ] = Mode.pinned,
    spec_method: SpecMethod = None,
    strict: Strict = False,
    keep: Keep = False,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
) -> None:
    """How the cost of an agent grows with its steps, and what prefix caching leaves of it.

    Every cut is a pass of its own under a fresh cache salt. Replies have their recorded length unless --mode natural,
    so that all arms do the same work. Shown: tokens sent and computed, time, KV memory, and how fast the sums grow.
    """
    from functools import partial

    from labkit.cli.measuring import conduct, provider, refuse_busy
    from labkit.cli.steps_view import show
    from labkit.engines.fleet import Fleet
    from labkit.experiments.asked import arms_of, recordings_of
    from labkit.experiments.fleet_provider import FleetProvider
    from labkit.experiments.runner import run_design
    from labkit.experiments.steps import StepsAsked, counts_of

    asked = StepsAsked(
        profile=profile, recordings=recordings_of(recordings), counts=counts_of(counts), arms=arms_of(arms),
        repeats=repeats, seed=seed, history=history.value, mode=mode.value, spec_method=spec_method,
        strict=strict, keep=keep, job=job,
    )  # fmt: skip
    design, engines = asked.design(), provider(profile, attach or [], spec_method=spec_method, strict=strict)
    if isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(block.arm) for block in design.blocks])

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_design(
            "steps", asked, design, engines, keep=keep, on_progress=on_progress, on_created=on_created
        )  # fmt: skip

    conduct(work, partial(show, as_json=json), job=job, as_json=json)
