"""What a model would say that follows a task's script, or gives up: replies for FakeEngine, in the loop's order."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from labkit.agents.loop import Loop
from labkit.agents.requests import RequestBuilder
from labkit.agents.scripted import Script, ScriptedModel, load_script
from labkit.agents.steps import Step
from labkit.agents.tasks import load_task
from labkit.agents.tools import Toolbox
from labkit.engines.fake import FakeReply
from labkit.experiments.live_warmup import live_warmup

Replies = tuple[FakeReply, ...]


@cache
def solving(task: str) -> Replies:
    """The known solution of the task."""
    return _said(task, load_script(load_task(task).folder / "script.toml"))


@cache
def giving_up(task: str = "evict-one-late") -> Replies:
    """A plan, `finish`, an answer: three steps that change nothing."""
    return _said(task, Script())


def warming(*tasks: str) -> Replies:
    """An answer to each request that warms an engine up for live agents at these tasks."""
    steps = live_warmup([load_task(task) for task in tasks], RequestBuilder()).steps
    return (FakeReply(content="fox"),) * len(steps)


def _said(name: str, script: Script) -> Replies:
    task, said = load_task(name), list[FakeReply]()

    def keep(step: Step) -> None:
        message = step.reply.message
        calls = tuple((c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or [])
        said.append(FakeReply(content=message["content"] or "", tool_calls=calls))

    with task.workspace() as workspace:
        loop = Loop(task.goal, ScriptedModel(script), Toolbox(workspace), task.limits, on_step=keep)
        _finished(loop)
    return tuple(said)


def _finished(loop: Loop) -> None:
    """Run it in a thread: the caller may be in an event loop itself."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, loop.run()).result()
