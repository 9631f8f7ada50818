"""`labkit up`, `ps`, `logs` and `down`: the engines of this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from labkit.cli.fleet_view import print_engines, start_drawn
from labkit.cli.plan import DEFAULT_PROFILE, ArmOption, MethodOption, ProfileOption, planned
from labkit.core.errors import BadInput, LabError
from labkit.core.masking import masked_text
from labkit.engines.fleet import Fleet
from labkit.engines.moriio.old_variables import shell_remarks
from labkit.engines.plan import Plan
from labkit.engines.profiles import load_profile
from labkit.engines.registry import Engine

_NONE_UP = "no engine is up; start one with: labkit up --arm prefix"

EngineArgument = Annotated[str | None, typer.Argument(help="Id of the engine, or a part of it; see labkit ps.")]


def register(app: typer.Typer) -> None:
    """Add the fleet's commands to the command line."""
    for command in (up, ps, logs, down):
        app.command()(command)


def up(
    profile: ProfileOption = DEFAULT_PROFILE,
    arm: ArmOption = "prefix",
    spec_method: MethodOption = None,
    salted: Annotated[bool, typer.Option(help="Quick mode: prefix caching is switched per request.")] = False,
) -> None:
    """Start the engine of an arm, or find the one that is up. It keeps running; end it with [bold]labkit down[/bold].

    Example: [bold]labkit up --arm prefix+spec[/bold]
    """
    plan = planned(load_profile(profile), arm, spec_method, salted)
    try:
        engine = asyncio.run(_up(plan))
    except (asyncio.CancelledError, KeyboardInterrupt) as stopped:
        typer.echo("the start was stopped; nothing of it is left running", err=True)
        how = signal.SIGINT if isinstance(stopped, KeyboardInterrupt) else signal.SIGTERM
        raise typer.Exit(128 + how) from None
    typer.echo(f"{engine.id} is up: {engine.base_url}/v1 serves {engine.model}")
    for said in shell_remarks(plan, os.environ):
        typer.echo(said, err=True)


def ps() -> None:
    """Show the engines that are up, starting, dead, or left behind by a crash.

    Example: [bold]labkit ps[/bold]
    """
    fleet = Fleet()
    engines = fleet.ps()
    if not engines:
        return typer.echo(_NONE_UP)
    left = {engine.id: fleet.holder(engine) for engine in engines if fleet.left(engine)}
    print_engines(engines, Console(), left)
    for engine_id, holder in left.items():
        typer.echo(_left_words(engine_id, holder))
    if any(engine.status in ("dead", "orphaned") for engine in engines):
        typer.echo("Dead and orphaned engines are cleaned up by: labkit down ENGINE")
    return None


def _left_words(engine_id: str, holder: str | None) -> str:
    """What became of an engine whose run was killed, and who may end it."""
    who = f"{holder} uses it now" if holder else f"anybody may use it, or end it: labkit down {engine_id}"
    return f"The run that started {engine_id} is gone: {who}"


def logs(
    engine: EngineArgument = None,
    role: Annotated[str | None, typer.Option(help="engine, prefill, decode or router. Default: all.")] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 40,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on printing until Ctrl-C.")] = False,
) -> None:
    """Print the last lines that an engine's processes wrote.

    Example: [bold]labkit logs prefix --role engine --follow[/bold]
    """
    fleet = Fleet()
    found = _the(fleet, engine)
    for process in found.processes if role is None else (found.process(role),):
        for line in fleet.log_tail(found, process.role, lines):
            typer.echo(f"{process.role} | {line}")
    if follow:
        chosen = found.processes if role is None else (found.process(role),)
        _follow({process.role: Path(process.log) for process in chosen})


def down(
    engine: EngineArgument = None,
    everything: Annotated[bool, typer.Option("--all", help="Every engine, and what crashes left behind.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Also an engine that a run is measuring on.")] = False,
) -> None:
    """End an engine: ask its processes, wait, then kill what is left of their groups.

    An engine that a run holds is not ended, unless with [bold]--force[/bold].

    Example: [bold]labkit down --all[/bold]
    """
    fleet = Fleet()
    if everything and engine is not None:
        raise BadInput("ENGINE", engine, "nothing, together with --all")
    ended = fleet.down(None if everything else _the(fleet, engine).id, force)
    for gone in ended:
        typer.echo(f"{gone.id} is down")
    if not ended:
        typer.echo("no engine was up")


async def _up(plan: Plan) -> Engine:
    """With progress, and with SIGTERM treated like Ctrl-C: both end what was started."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with start_drawn(Console(stderr=True), plan.arm, plan.expected_start_s) as show:
        return await Fleet().up(plan, show)


def _the(fleet: Fleet, engine: str | None) -> Engine:
    """The named engine, or the only one."""
    engines = fleet.ps()
    if engine is None and len(engines) == 1:
        return engines[0]
    if not engines:
        raise LabError(_NONE_UP)
    if engine is None:
        ids = ", ".join(found.id for found in engines)
        raise LabError(f"{len(engines)} engines are up: {ids}", "Name one of them; a part of its id will do.")
    return fleet.get(engine)


def _follow(files: dict[str, Path]) -> None:
    """What is appended from now on, until Ctrl-C."""
    opened = {role: path.open(encoding="utf-8", errors="replace") for role, path in files.items()}
    for log in opened.values():
        log.seek(0, 2)
    try:
        while True:
            for role, log in opened.items():
                for line in log:
                    typer.echo(f"{role} | {masked_text(line.rstrip())}")
            time.sleep(0.3)
    except KeyboardInterrupt:
        return
    finally:
        for log in opened.values():
            log.close()
