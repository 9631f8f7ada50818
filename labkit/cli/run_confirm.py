"""`labkit run confirm`: live agents in two arms, and whether the faster one solves as many tasks."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.endpoint_options import attachable
from labkit.cli.run import group
from labkit.cli.run_options import Attach, Job, Json, Keep, Profile, SpecMethod, Strict
from labkit.experiments.catalogue import DEFAULT_PROFILE

if TYPE_CHECKING:
    from labkit.core.progress import OnProgress
    from labkit.experiments.runner import OnCreated
    from labkit.store.runs import Run


def register(app: typer.Typer) -> None:
    """Add the command to `labkit run`."""
    group.command(epilog="Example: labkit run confirm --arm prefix+spec --against base --attempts 4 --margin 0.1")(
        confirm
    )


@attachable
def confirm(
    profile: Profile = DEFAULT_PROFILE,
    arm: Annotated[str, typer.Option(help="The arm that is to replace the other one.")] = "prefix+spec",
    against: Annotated[str, typer.Option(help="The arm that it must not be worse than.")] = "base",
    tasks: Annotated[str, typer.Option(help="Names of `labkit tasks` with commas between; default: all.")] = "",
    attempts: Annotated[int, typer.Option(min=1, help="At each task in each arm, with the same seeds in both.")] = 2,
    margin: Annotated[float, typer.Option(help="How much lower a success rate you would accept, such as 0.1.")] = 0.1,
    steps: Annotated[int | None, typer.Option(min=2, help="Most LLM calls of an attempt; default: the task's.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="Of every request; 0 allows one attempt.")] = 0.6,
    tool_mode: Annotated[str, typer.Option(help="grammar (small models) or required (tool_choice).")] = "grammar",
    spec_method: SpecMethod = None,
    strict: Strict = False,
    seed: Annotated[int, typer.Option(help="Of the order, and of the attempts' sampling.")] = 0,
    keep: Keep = False,
    json: Json = False,
    job: Job = None,
    attach: Attach = None,
) -> None:
    """Confirm live that the faster arm solves as many tasks (non-inferiority, with a margin fixed before).

    Agents work at real tasks with real tools in both arms; hidden checks judge what they leave. Times of live runs are
    shown per attempt and per solved task, not paired: every attempt goes its own way. On the default profile the 135M
    model solves next to nothing, and the answer says so. Ctrl-C keeps the attempts that ended.
    """
    from functools import partial

    from labkit.cli.confirm_view import show
    from labkit.cli.measuring import conduct, provider, refuse_busy
    from labkit.core.arms import arm_named
    from labkit.core.errors import BadInput
    from labkit.engines.fleet import Fleet
    from labkit.experiments.confirm import run_confirm
    from labkit.experiments.confirm_asked import ConfirmAsked
    from labkit.experiments.fleet_provider import FleetProvider

    if tool_mode not in ("grammar", "required"):
        raise BadInput("tool-mode", tool_mode, "grammar or required")
    asked = ConfirmAsked(
        profile=profile, arm=arm, against=against, tasks=tuple(filter(None, tasks.replace(" ", "").split(","))),
        attempts=attempts, margin=margin, steps=steps, temperature=temperature, tool_mode=tool_mode,  # type: ignore[arg-type]
        spec_method=spec_method, strict=strict, seed=seed, keep=keep, job=job,
    ).checked()  # fmt: skip
    engines = provider(profile, attach or [], spec_method=spec_method, strict=strict)
    if isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(arm_named(label)) for label in (asked.against, asked.arm)])

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_confirm(asked, engines, on_progress=on_progress, on_created=on_created)

    conduct(work, partial(show, as_json=json), job=job, as_json=json)
