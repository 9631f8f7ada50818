"""The options that `labkit run interference` and `labkit run capacity` share, and how such a run is conducted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from labkit.experiments.load_asked import LOAD_RECORDINGS

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from labkit.cli.measuring import Shown
    from labkit.core.progress import OnProgress
    from labkit.experiments.design import Design
    from labkit.experiments.load_asked import LoadAsked
    from labkit.experiments.runner import OnCreated
    from labkit.store.runs import Run

ALL_RECORDINGS = ",".join(LOAD_RECORDINGS)

Recordings = Annotated[
    str, typer.Option(help="Names of `labkit recordings` or .jsonl files with commas between; given round-robin.")
]
Window = Annotated[float, typer.Option(min=0.1, help="Seconds in which requests that count are sent, at each level.")]
Stagger = Annotated[float, typer.Option(min=0.0, help="Agents begin at random moments within so many seconds.")]
Gaps = Annotated[
    bool,
    typer.Option(
        "--gaps/--no-gaps", help="Wait the recorded time of tools. Without, the cache has less time to forget."
    ),
]
Seed = Annotated[int, typer.Option(help="Of the moments at which agents begin, and of the order of repeats.")]


def conduct_load(
    experiment: str, asked: LoadAsked, design: Design, shown: Shown, *, attached: list[str], as_json: bool
) -> None:
    """Run it and show it. Raises typer.Exit with the status that `labkit.cli.measuring` names, LabError."""
    from labkit.cli.measuring import conduct, provider, refuse_busy
    from labkit.engines.fleet import Fleet
    from labkit.experiments.fleet_provider import FleetProvider
    from labkit.experiments.runner import run_design

    engines = provider(asked.profile, attached, spec_method=asked.spec_method, strict=asked.strict)
    if isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(block.arm) for block in design.blocks])

    second = dict.fromkeys(design.labels, 1.0)  # a load is planned by its time

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_design(
            experiment, asked, design, engines, keep=asked.keep, expected=second, on_progress=on_progress,
            on_created=on_created,
        )  # fmt: skip

    conduct(work, shown, job=asked.job, as_json=as_json)
