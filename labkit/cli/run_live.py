"""`labkit run live` and `labkit steer`: agents at work while layers are switched on and off."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from labkit.cli.endpoint_options import attachable
from labkit.cli.load_options import Gaps
from labkit.cli.run import group
from labkit.cli.run_options import Arms, Attach, Job, Json, Keep, Profile, SpecMethod, Strict
from labkit.experiments.catalogue import DEFAULT_PROFILE

if TYPE_CHECKING:
    from labkit.core.progress import OnProgress
    from labkit.experiments.live_asked import LiveAsked
    from labkit.experiments.runner import OnCreated
    from labkit.experiments.serving import EngineProvider
    from labkit.store.runs import Run


def register(app: typer.Typer) -> None:
    """Add both commands."""
    group.command(
        epilog="Example: labkit run live --recording ranks-that-jump-live --arms base,prefix --agents 2 --laps 0"
    )(live)
    app.command(epilog="Example: labkit steer prefix+spec")(steer)


@attachable
def live(
    recording: Annotated[
        str | None, typer.Option(help="What agents replay: a name of `labkit recordings`, or a .jsonl file.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="What live agents work at: a name of `labkit tasks`.")] = None,
    profile: Profile = DEFAULT_PROFILE,
    arms: Arms = "base,prefix",
    agents: Annotated[int, typer.Option(min=1, help="Agents at once.")] = 1,
    steps: Annotated[int | None, typer.Option(min=1, help="Most steps of each agent in a lap; default: all.")] = None,
    laps: Annotated[int, typer.Option(min=0, help="Laps of each arm, in turn; 0: until it is stopped.")] = 1,
    gaps: Gaps = True,
    tool_mode: Annotated[str, typer.Option(help="Of live agents: grammar (small models) or required.")] = "grammar",
    temperature: Annotated[float, typer.Option(min=0.0, help="Of live agents' requests.")] = 0.6,
    seed: Annotated[int, typer.Option(help="Of live agents' sampling; the same in every arm.")] = 0,
    spec_method: SpecMethod = None,
    strict: Strict = False,
    keep: Keep = False,
    beside: Annotated[str | None, typer.Option(help="Id of the run that this one repeats under other arms.")] = None,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
) -> None:
    """Agents at work, one recording or one task, and layers switched on and off meanwhile.

    Agents go through it in laps, under each arm in turn. From another terminal, `labkit steer ARM` changes the arm from
    every agent's next step on: at once where an engine is warm, after its start where it is not. Engines are kept warm
    side by side while memory allows. Steps that were toggled are paired with none: for the measurement of an arm, let
    its laps alone, or use `labkit replay`. Ctrl-C keeps what was measured.
    """
    from dataclasses import replace
    from functools import partial

    from labkit.cli.live_view import show
    from labkit.cli.measuring import conduct, refuse_busy
    from labkit.engines.fleet import Fleet
    from labkit.experiments import jobs
    from labkit.experiments.asked import arms_of
    from labkit.experiments.live_asked import LiveAsked
    from labkit.experiments.live_run import run_laps
    from labkit.experiments.warm_provider import WarmProvider

    asked = LiveAsked(
        profile=profile, arms=arms_of(arms), recording=recording, task=task, agents=agents, steps=steps, laps=laps,
        gaps=gaps, tool_mode=tool_mode, temperature=temperature, seed=seed,  # type: ignore[arg-type]
        spec_method=spec_method, strict=strict, keep=keep, beside=beside, job=job,
    ).checked()  # fmt: skip
    engines = _provider(asked, attach or [])
    if isinstance(engines, WarmProvider):
        refuse_busy(Fleet(), [engines.plan(arm) for arm in asked.planned])

    asked = replace(asked, job=job or jobs.enlist("live", _typed(asked)).id)

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_laps(asked, engines, on_progress=on_progress, on_created=on_created)

    conduct(work, partial(show, as_json=json), job=asked.job, as_json=json)


def _typed(asked: LiveAsked) -> dict[str, Any]:
    """What was asked for beyond the defaults, as the parameters of a job."""
    from labkit.experiments.catalogue import experiment

    defaults = experiment("live").all_defaults
    given = {name: value for name, value in asked.to_dict().items() if name in defaults}
    return {name: value for name, value in given.items() if value != defaults[name]}


def _provider(asked: LiveAsked, attached: list[str]) -> EngineProvider:
    """Engines that are attached, or the fleet's, kept warm side by side."""
    from labkit.cli.measuring import provider
    from labkit.engines.fleet import Fleet
    from labkit.engines.profiles import load_profile
    from labkit.experiments.warm_provider import WarmProvider

    if attached:
        return provider(asked.profile, attached, spec_method=asked.spec_method, strict=asked.strict)
    profile = load_profile(asked.profile)
    return WarmProvider(Fleet(), profile, spec_method=asked.spec_method, strict=asked.strict)


def steer(
    arm: Annotated[str, typer.Argument(help="base, prefix, pd, spec, prefix+pd, prefix+spec, pd+spec or all.")],
    job: Annotated[str | None, typer.Option(help="Which live run; default: the one that was started last.")] = None,
) -> None:
    """Switch layers of a live run that goes on: every agent's next step is served by ARM.

    The run says itself what became of it: `switched`, or the engine's words when the arm cannot be had.
    """
    from labkit.core.arms import arm_named
    from labkit.core.errors import LabError
    from labkit.experiments import live as live_runs

    wish = arm_named(arm)
    if job is None:
        found = live_runs.running_live()
        if found is None:
            raise LabError("No live run goes on.", "Start one: labkit run live --help")
        job = found.job.id
    live_runs.steer(job, wish)
    Console().print(f"{wish.label} from the next step on. Follow it: labkit runs, or the dashboard.", highlight=False)
