"""One agent, live, as a run: task, model, tools and engine meet here, and every step goes into the run folder."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from labkit.agents.loop import Loop
from labkit.agents.requests import RequestBuilder
from labkit.agents.steps import OnStep, Outcome, nobody
from labkit.agents.tasks import Task, load_task
from labkit.agents.tools import Toolbox
from labkit.core.arms import arm_named
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import BadInput
from labkit.core.progress import OnProgress, silent
from labkit.experiments.agent_asked import AgentAsked, header_of, place_of
from labkit.experiments.agent_model import Recorder, model_of
from labkit.experiments.attached.remarks import attached_remarks
from labkit.experiments.before_start import asked_and_attached, host_of
from labkit.experiments.sampling import engine_sampled, sampled
from labkit.experiments.serving import EngineProvider, Served
from labkit.store.runs import Run, RunStore, RunWriter
from labkit.traffic.recording import Recording

__all__ = ["AgentAsked", "AgentRun", "attempt", "run_live", "task_of"]


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """What came of it."""

    run: Run
    outcome: Outcome
    recording: Recording


async def run_live(
    asked: AgentAsked,
    provider: EngineProvider,
    *,
    store: RunStore | None = None,
    on_step: OnStep = nobody,
    on_progress: OnProgress = silent,
    on_created: Callable[[Path], None] = lambda _: None,
    clock: Clock | None = None,
) -> AgentRun:
    """Let an agent work at a task, judge what it left. Raises UnknownName, WeightsError, EngineError."""
    task, clock = task_of(asked), clock or SystemClock()
    engines = provider.fingerprint([arm_named(asked.arm)]) if asked.with_engine else {}
    store = store or RunStore(clock=clock)
    with store.create("agent", asked_and_attached(asked, provider), {**host_of(provider), **engines}) as writer:
        on_created(writer.folder)
        async with sampled(writer, clock), _served(asked, provider, writer, on_progress, clock) as served:
            outcome, recording = await attempt(asked, task, served, writer, on_step, clock)
        writer.event("outcome", **dataclasses.asdict(outcome))
        noted = [f"{words}." for words in attached_remarks(Run(writer.folder).events())]
        note = "\n".join(filter(None, (outcome.error, *noted)))
        writer.finish("partial" if outcome.stop_reason == "error" else "done", note)
    return AgentRun(run=store.open(writer.id), outcome=outcome, recording=recording)


def task_of(asked: AgentAsked) -> Task:
    """The task, with no more steps than asked for. Raises UnknownName, BadInput."""
    task = load_task(asked.task)
    if asked.steps is None:
        return task
    if asked.steps < 2:
        raise BadInput("steps", asked.steps, "2 or more: a plan and an answer")
    return dataclasses.replace(task, limits=dataclasses.replace(task.limits, steps=asked.steps))


@asynccontextmanager
async def _served(
    asked: AgentAsked, provider: EngineProvider, writer: RunWriter, on_progress: OnProgress, clock: Clock
) -> AsyncIterator[Served | None]:
    if not asked.with_engine:
        yield None
        return
    try:
        served = await provider.serve(arm_named(asked.arm), on_progress)
        served.tell(writer, arm=asked.arm, repeat=0)
        with provider.locked(served, writer.id):
            async with engine_sampled(writer, served, clock):
                yield served
    finally:
        writer.event("closed", engines_left_up=await provider.close(keep=asked.keep))


async def attempt(
    asked: AgentAsked, task: Task, served: Served | None, writer: RunWriter, on_step: OnStep, clock: Clock
) -> tuple[Outcome, Recording]:
    """One agent at one task, judged by the hidden check. Its rows and its recording go into the run."""
    requests = RequestBuilder(tool_mode=asked.tool_mode, temperature=asked.temperature, seed=asked.seed)
    header = header_of(asked, task, served, requests, writer)
    writer.recording(header.to_dict())
    recorder = Recorder(writer, place_of(asked, task, served, writer), on_step)
    with task.workspace() as workspace:
        async with model_of(asked, task, served, recorder, clock) as model:
            toolbox = Toolbox(workspace)
            outcome = await Loop(task.goal, model, toolbox, task.limits, requests, recorder, clock).run()
        check = await asyncio.to_thread(task.check, workspace)
    outcome = dataclasses.replace(outcome, reached=check.passed, check_output=check.output)
    header = dataclasses.replace(header, stop_reason=outcome.stop_reason, reached=outcome.reached)
    return outcome, Recording(header=header, steps=tuple(recorder.steps))
