"""`labkit tasks`, `recordings`, `agent` and `record`: an agent at work, live, and what is kept of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from labkit.cli.endpoint_options import attachable
from labkit.cli.run_options import Attach
from labkit.experiments.catalogue import DEFAULT_PROFILE


class Who(StrEnum):
    engine = "engine"
    scripted = "scripted"


class Mode(StrEnum):
    grammar = "grammar"
    required = "required"


Task = Annotated[
    str, typer.Option("--task", help="A name of `labkit tasks`, or the folder of a task of your own: ./mine.")
]
Arm = Annotated[str, typer.Option("--arm", help="base, prefix, pd, spec, prefix+pd, prefix+spec, pd+spec or all.")]
Profile = Annotated[str, typer.Option("--profile", help="Machine, model and engine: a name, or a TOML file.")]
Model = Annotated[
    Who, typer.Option("--model", help="engine: the profile's model decides. scripted: a known solution is played.")
]
ToolMode = Annotated[
    Mode, typer.Option(help="How calls are kept well-formed: by a grammar (small models) or tool_choice=required.")
]
Steps = Annotated[int | None, typer.Option(min=2, help="Most LLM calls, the answer included; default: the task's.")]
Keep = Annotated[bool, typer.Option("--keep", help="Leave the engine up afterwards.")]


_COUNTS = (
    "A known solution is played; an engine is needed all the same, to count the tokens of each prompt and reply for a "
    "replay. Without one: labkit agent --model scripted"
)


def register(app: typer.Typer) -> None:
    """Add the agent's commands to the command line."""
    app.command()(tasks)
    app.command()(recordings)
    app.command()(agent)
    app.command()(record)


def tasks() -> None:
    """List the tasks that an agent can be given.

    Example: labkit tasks
    """
    from labkit.agents.tasks import list_tasks, load_task

    table = Table("task", "title", "most steps", box=None, header_style="bold")
    for task in map(load_task, list_tasks()):
        table.add_row(task.name, task.title, str(task.limits.steps))
    Console().print(table)


def recordings() -> None:
    """List the recordings that come with the project, to replay them.

    Example: labkit recordings
    """
    from labkit.cli.recordings_view import recordings_view
    from labkit.traffic.recording import list_recordings, named

    console = Console()
    console.print(recordings_view({name: named(name) for name in list_recordings()}, console.width))


@attachable
def agent(
    task: Task,
    arm: Arm = "prefix",
    profile: Profile = DEFAULT_PROFILE,
    model: Model = Who.engine,
    tool_mode: ToolMode = Mode.grammar,
    steps: Steps = None,
    keep: Keep = False,
    attach: Attach = None,
) -> None:
    """Let an agent repair a small package, and watch every step. A hidden check says whether it did.

    With --model scripted no engine is started: it shows the loop, the tools and the check at once.

    Example: labkit agent --task evict-one-late --arm prefix
    """
    from labkit.cli.agent_view import work
    from labkit.experiments.agent_run import AgentAsked

    asked = AgentAsked(
        task=task, arm=arm, profile=profile, model=model.value, tool_mode=tool_mode.value,
        steps=steps, with_engine=model is Who.engine, keep=keep,
    )  # fmt: skip
    work(asked, attach or [])


@attachable
def record(
    task: Task,
    out: Annotated[Path, typer.Option(help="The .jsonl file to write.")],
    arm: Arm = "prefix",
    profile: Profile = DEFAULT_PROFILE,
    model: Model = Who.engine,
    tool_mode: ToolMode = Mode.grammar,
    steps: Steps = None,
    keep: Keep = False,
    attach: Attach = None,
) -> None:
    """Like agent, and keep the exact requests, replies and tool results, to replay them under any arm.

    With --model scripted an engine is started too, but it only counts the tokens of each prompt and reply, which a
    replay needs; a known solution decides, and the header says so.

    Example: labkit record --task evict-one-late --arm prefix --out mine.jsonl
    """
    from dataclasses import replace

    from labkit.cli.agent_view import work
    from labkit.experiments.agent_run import AgentAsked
    from labkit.traffic.recording import save

    asked = AgentAsked(
        task=task, arm=arm, profile=profile, model=model.value, tool_mode=tool_mode.value, steps=steps, keep=keep
    )  # fmt: skip
    if model is Who.scripted:
        Console().print(_COUNTS, highlight=False)
    recording = work(asked, attach or [])
    save(replace(recording, header=replace(recording.header, name=out.stem)), out)
    Console().print(f"Recording: {out} ({len(recording.steps)} steps). Replay it: labkit replay {out}", highlight=False)
