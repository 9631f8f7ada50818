"""One pass by several agents at once: each in a closed loop of its own, all on one engine, over one steady window.

The engine's counters cannot be attributed to a step when several are in flight: they are read around the window, and
what a step's row says of the engine comes from its own reply alone. Nothing but the load runs meanwhile: no ceiling is
computed, since that takes an answer of the engine's tokenizer for each step.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from labkit.core.chat import Model
from labkit.core.errors import LabError
from labkit.core.records import StepRecord
from labkit.experiments.design import Block, Pass
from labkit.experiments.load import LoadPass, agent_id
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Around, Place, Rows, rows_of
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.experiments.window import Watched, Window
from labkit.traffic.recording import Recording
from labkit.traffic.replay import Replayed, replay
from labkit.traffic.salt import SaltPolicy


async def measure_load(session: Session, block: Block, served: Served, client: Model, each: LoadPass) -> Sequence[Rows]:
    """Make the load and keep a row of each step; returns those that count.

    Raises EngineDied when a process of the engine is gone.
    """
    window = Window(each.agents, each.window_s, session.clock)
    crowd = _Crowd(session, block, served, client, each, window)
    began, errors = session.clock.now(), list[LabError]()
    try:
        async with asyncio.TaskGroup() as group:
            agents = [
                group.create_task(crowd.agent(number, began + offset)) for number, offset in enumerate(each.offsets())
            ]
            await _timed(session, block, served, each, window)
            for agent in agents:
                agent.cancel()
    except* LabError as several:
        errors.extend(error for error in several.exceptions if isinstance(error, LabError))
    if errors:
        raise errors[0]
    return crowd.counted


async def _timed(session: Session, block: Block, served: Served, each: LoadPass, window: Window) -> None:
    """The window from its opening to its close, and what it and the engine's counters say of it."""
    session.reporter.say(f"measuring {block.label}", f"{_agents(each)}: waiting until all are at work")
    await window.opened()
    meter = await Meter.started(served.metrics, session.clock)
    await window.run(lambda: session.reporter.tick(block.label, f"{_agents(each)}: {window.counted} requests sent"))
    await meter.lap()
    about = {"arm": block.arm.label, "repeat": block.repeat + each.number, "condition": each.condition}
    times = {name: getattr(window, name) - session.writer.t0 for name in ("start", "end", "close")}
    facts = {"agents": each.agents, "sent": window.counted, "cut": window.flying, "gaps": each.options.gaps}
    session.writer.event("window", **about, **times, **facts)
    session.writer.event("counters", **about, recording="", cache=each.cache, **meter.total())


def _agents(each: LoadPass) -> str:
    return "1 agent" if each.agents == 1 else f"{each.agents} agents"


@dataclass
class _Crowd:
    """The agents of one pass, and the rows that count."""

    session: Session
    block: Block
    served: Served
    client: Model
    each: LoadPass
    window: Window
    counted: list[Rows] = field(default_factory=list)

    async def agent(self, number: int, due: float) -> None:
        """One agent: recording after recording, until it is cancelled."""
        life = 0
        while True:
            recording = self.each.recording_of(number, life)
            due = await self._life(number, recording, self._place(recording, agent_id(number, life)), due)
            life += 1

    async def _life(self, number: int, recording: Recording, place: Place, due: float) -> float:
        """One recording from its first step; returns when the next one is due."""
        watched = Watched(self.client, self.window)
        salt = SaltPolicy(per_request=self.served.switched_by == "salt")
        options, clock = self.each.options, self.session.clock
        async with aclosing(replay(recording, watched, options, salt, clock=clock, due=due)) as steps:
            async for done in steps:
                self._keep(place, done, watched.counts)
                self.window.ended(number, watched.counts)
                due = done.t_end
                if done.error:
                    await self.session.check_alive(self.served)
                    due = clock.now()
        return due

    def _keep(self, place: Place, done: Replayed, counts: bool) -> None:
        place = dataclasses.replace(place, warmup=not counts)
        rows = rows_of(place, done, Around())
        rows = dataclasses.replace(rows, step=_attributable(rows.step, split="decode" in self.served.metrics))
        self.session.writer.step(rows.step, rows.chunks)
        if counts:
            self.counted.append(rows)
            self.session.tally.count(self.block.label, done.error)

    def _place(self, recording: Recording, agent: str) -> Place:
        one = Pass(recording=recording, options=self.each.options, condition=self.each.condition, cache=self.each.cache)
        place = self.session.place(self.block, self.served, one)
        return dataclasses.replace(place, agent=agent, repeat=self.block.repeat + self.each.number)


def _attributable(step: StepRecord, split: bool) -> StepRecord:
    """The reply of a split engine tells decode's side of queue and prefill only, which is not the step's."""
    return dataclasses.replace(step, queue_s=None, prefill_s=None) if split else step
