"""Who answers a live agent, and who writes down what was said."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from labkit.agents.scripted import ScriptedModel, load_script
from labkit.agents.steps import OnStep, Step, nobody
from labkit.agents.tasks import Task
from labkit.core.chat import ChatRequest, Model, Reply
from labkit.core.clock import Clock
from labkit.engines.client import EngineClient
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.agent_rows import as_replayed, counting, recorded
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Around, Place, rows_of
from labkit.experiments.serving import Served
from labkit.store.runs import RunWriter
from labkit.traffic.recording import RecordedStep
from labkit.traffic.salt import SaltPolicy


@dataclass
class Recorder:
    """Keeps each step as it ends: rows in the tables and, unless it failed, a line in the recording."""

    writer: RunWriter
    place: Place
    on_step: OnStep = nobody
    steps: list[RecordedStep] = field(default_factory=list)
    around: Around = field(default_factory=Around)

    def __call__(self, step: Step) -> None:
        rows = rows_of(self.place, as_replayed(step), self.around)
        self.writer.step(rows.step, rows.chunks, rows.texts)
        if step.reply:
            self.writer.recording(recorded(step).to_dict())
            self.steps.append(recorded(step))
        self.on_step(step)


@dataclass
class ServedModel:
    """The engine's model with the arm's salts, and its counters read after each reply where the reply lacks them."""

    client: EngineClient
    salts: SaltPolicy
    meter: Meter
    recorder: Recorder
    turn: int = 0

    async def chat(self, request: ChatRequest) -> Reply:
        self.turn += 1
        reply = await self.client.chat(dataclasses.replace(request, cache_salt=self.salts.salt(self.turn)))
        self.recorder.around = await self.meter.lap()
        return reply


@asynccontextmanager
async def model_of(
    asked: AgentAsked, task: Task, served: Served | None, recorder: Recorder, clock: Clock
) -> AsyncIterator[Model]:
    """Who answers: a script, alone or with its tokens counted, or the engine."""
    script = load_script(task.folder / "script.toml") if asked.model == "scripted" else None
    if served is None:
        yield ScriptedModel(script, clock=clock) if script else ScriptedModel(clock=clock)
        return
    async with served.client(clock) as client:
        if script:
            yield ScriptedModel(script, counting(client), clock)
            return
        urls = served.metrics if "decode" in served.metrics else {}
        salts = SaltPolicy(per_request=served.switched_by == "salt")
        yield ServedModel(client, salts, await Meter.started(urls, clock), recorder)
