"""What `labkit run ...` and `labkit replay` share: run it, draw it, print what came out, exit with a status.

| status | state                                                          |
|--------|----------------------------------------------------------------|
| 0      | done                                                           |
| 1      | failed: nothing was measured                                   |
| 3      | partial: some arm was not, or not wholly, measured             |
| 130    | cancelled by Ctrl-C (143: by SIGTERM)                          |
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from labkit.cli.arms_view import print_arms
from labkit.cli.endpoint_options import endpoints_in
from labkit.cli.go_on import go_on_lines
from labkit.cli.notes import notes
from labkit.cli.progress_view import drawn
from labkit.core.errors import BadInput, EngineBusy, LabError
from labkit.core.progress import OnProgress
from labkit.engines.fleet import Fleet
from labkit.engines.plan_records import Plan
from labkit.engines.profiles import load_profile
from labkit.experiments import jobs
from labkit.experiments.asked import Asked
from labkit.experiments.attached.provider import attach
from labkit.experiments.attached.same_model import require_same_model
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.interrupt import Stopped, run_until_signal
from labkit.experiments.runner import OnCreated, run_replay
from labkit.experiments.serving import EngineProvider, StaticProvider
from labkit.experiments.words import replayed_in_words
from labkit.store.runs import Run, RunStore

_STATUS = {"done": 0, "failed": 1, "partial": 3}


Work = Callable[[OnProgress, OnCreated], Coroutine[Any, Any, Run]]
"""A run that has not begun: call it with whom to tell of progress and of the run's folder."""
Shown = Callable[[Run, Console], None]


def measure(experiment: str, asked: Asked, *, attached: list[str], as_json: bool) -> None:
    """Run it. Raises typer.Exit with the status of the module's table, LabError for a question that is wrong."""
    engines = provider(asked.profile, attached, spec_method=asked.spec_method, strict=asked.strict)
    if isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(block.arm) for block in asked.blocks()])

    def work(on_progress: OnProgress, on_created: OnCreated) -> Coroutine[Any, Any, Run]:
        return run_replay(experiment, asked, engines, on_progress=on_progress, on_created=on_created)

    conduct(work, partial(show, as_json=as_json), job=asked.job, as_json=as_json)


def conduct(work: Work, shown: Shown, *, job: str | None, as_json: bool) -> NoReturn:
    """Do the work with its progress drawn, then show the run, also one that Ctrl-C ended.

    Raises typer.Exit with the status of the module's table. `job`: whose run it is, when a page started it.
    """
    console = Console(stderr=as_json)
    folders: list[Path] = []

    def created(folder: Path) -> None:
        folders.append(folder)
        if job:
            jobs.claim(job, folder)

    def stopping(number: signal.Signals) -> None:
        kept = "the run so far is kept" if folders else "nothing was measured yet"
        console.print(f"\n{number.name}: putting things away; {kept}.", highlight=False)

    try:
        with drawn(console) as on_progress:
            run = run_until_signal(work(on_progress, created), stopping)
    except Stopped as stopped:
        if folders:
            shown(RunStore().open(folders[0]), console)
        raise typer.Exit(stopped.exit_status) from None
    shown(run, console)
    raise typer.Exit(_STATUS.get(run.info.state, 1))


def refuse_busy(fleet: Fleet, plans: Sequence[Plan]) -> None:
    """Raises EngineBusy, before there is a run folder, when somebody measures on an engine that this run would use."""
    for plan in plans:
        engine = fleet.find(plan)
        if engine and (owner := fleet.holder(engine)):
            raise EngineBusy(f"engine {engine.id} is held by {owner}", "Wait for it, or stop that run.")


def provider(
    profile_name: str, attached: list[str], *, spec_method: str | None = None, strict: bool = False
) -> EngineProvider:
    """The fleet; or, when engines are attached, those and no others.

    `attached`: the words of `endpoint_options`, whose engines are looked at now; or `ARM=URL`, `model=NAME`,
    `block_size=N`, which are taken as they are. `profile_name`: empty for engines without a profile.
    """
    if (asked := endpoints_in(attached)) is not None:
        profile = load_profile(profile_name) if profile_name else None
        found = asyncio.run(attach(asked, profile=profile, spec_method=spec_method, strict=strict))
        if profile:
            require_same_model(profile, found.engines)
        return found
    if not profile_name:
        raise LabError("This was measured on engines that were attached.", "Name them again: --endpoint URL")
    profile = load_profile(profile_name)
    if not attached:
        return FleetProvider(Fleet(), profile, spec_method=spec_method, strict=strict)
    named = dict(_pair(text) for text in attached)
    block_size = _block_size(named.pop("block_size", ""))
    model = named.pop("model", profile.model.served)
    return StaticProvider(named, model, block_size, salted=not strict)


def _block_size(text: str) -> int | None:
    """Raises BadInput for what is no number of tokens; None where nothing is said."""
    if text and (not text.isdecimal() or int(text) == 0):
        raise BadInput("attach", f"block_size={text}", "block_size=N, N tokens: a whole number above 0")
    return int(text) if text else None


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise BadInput("attach", text, "ARM=URL, such as base=http://127.0.0.1:8000")
    return name, value


def show(run: Run, console: Console, *, as_json: bool = False) -> None:
    """The table, what is missing from it, where the run is, how to go on. JSON: one line on stdout, for programs."""
    tables = print_arms(run, console)
    ending(run, console)
    if as_json:
        cold, *warm = [json.loads(table.to_json(orient="records")) for table in tables.values()]
        say_json(run, arms=cold, **({"arms_warm": warm[0]} if warm else {}))


def ending(run: Run, console: Console) -> None:
    """What every run says last: how it was made, how it ended, what is to be noted, where it is, how to go on."""
    info = run.info
    if replayed := replayed_in_words(info.experiment, info.asked):
        console.print(f"{replayed}.", highlight=False, markup=False, soft_wrap=True)
    console.print(f"[bold]{info.state}[/]", highlight=False)
    for line in notes(run):
        console.print(f"  {line}", highlight=False, markup=False)
    console.print(f"Run folder: {run.folder}", highlight=False, soft_wrap=True)
    for line in go_on_lines(run):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def say_json(run: Run, **data: Any) -> None:
    """The run in one line of JSON on stdout."""
    typer.echo(json.dumps({"run": run.id, "folder": str(run.folder), "state": run.info.state, **data}))
