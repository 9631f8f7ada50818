"""Agents that work at one task, live: real tools in their sandbox, a hidden check at the end, a recording of each."""

from __future__ import annotations

import asyncio
import dataclasses
from dataclasses import dataclass, field
from typing import Any

from labkit.agents.loop import Loop
from labkit.agents.prompts import kind_asked
from labkit.agents.requests import RequestBuilder
from labkit.agents.steps import Outcome, Step
from labkit.agents.tasks import Task
from labkit.agents.tools import Toolbox
from labkit.core.chat import ChatRequest
from labkit.core.records import Kind
from labkit.experiments.agent_asked import AgentAsked, header_of
from labkit.experiments.agent_rows import as_replayed, recorded
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_crew import Book
from labkit.experiments.live_keeping import Keeping
from labkit.experiments.live_lap import Lap
from labkit.experiments.live_line import Line
from labkit.store.runs import RunWriter
from labkit.traffic.recording import RecordingHeader


@dataclass
class Lines:
    """The recording of one attempt. Of one agent it is written as it is made; of several each in one piece.

    Agents that work at once would else write into each other's recordings.
    """

    writer: RunWriter
    at_once: bool
    _kept: list[dict[str, Any]] = field(default_factory=list, init=False)

    def add(self, line: RecordingHeader | Any) -> None:
        """The header, then each step that was answered."""
        self._kept.append(line.to_dict())
        if self.at_once:
            self.flush()

    def flush(self) -> None:
        """Write what there is, unless it is a header alone."""
        if self.at_once or len(self._kept) > 1:
            for line in self._kept:
                self.writer.recording(line)
        self._kept.clear()


@dataclass
class Working:
    """Agents that work at one task."""

    book: Book
    task: Task
    asked: LiveAsked

    @property
    def recorded_as(self) -> str:
        return ""

    @property
    def steps(self) -> int:
        return self.task.limits.steps

    async def agent(self, lap: Lap, number: int, keeping: Keeping) -> None:
        """One attempt, judged by the hidden check. Raises EngineError when no engine serves any more."""
        attempt = lap.repeat * self.asked.agents + number
        asked = self.asked.attempt(lap.arm.label, attempt)
        requests = RequestBuilder(tool_mode=asked.tool_mode, temperature=asked.temperature, seed=asked.seed)
        line = Line(self.book.board, lap, str(number), self.task.name, "", "live", _kind_of, keeping)
        lines = Lines(self.book.board.writer, at_once=self.asked.agents == 1)
        lines.add(self._header(asked, requests, lap, number))
        try:
            outcome = await self._attempt(line, lines, requests, keeping)
        finally:
            await keeping.end()
            lines.flush()
        self._tell(line, attempt, asked, outcome)

    async def _attempt(self, line: Line, lines: Lines, requests: RequestBuilder, keeping: Keeping) -> Outcome:
        waited: list[float] = []

        def keep(step: Step) -> None:
            waited.append(line.waited_s)
            self.book.keep(line, as_replayed(step), keeping)
            if step.reply:
                lines.add(recorded(step))

        with self.task.workspace() as workspace:
            loop = Loop(self.task.goal, line, Toolbox(workspace), self.task.limits, requests, keep, line.board.clock)
            outcome = await loop.run()
            check = await asyncio.to_thread(self.task.check, workspace)
        seconds = max(0.0, outcome.seconds - sum(waited))
        reached = check.passed and outcome.stop_reason != "error"
        return dataclasses.replace(outcome, seconds=seconds, reached=reached, check_output=check.output)

    def _header(self, asked: AgentAsked, requests: RequestBuilder, lap: Lap, number: int) -> RecordingHeader:
        station = self.book.board.station
        header = header_of(asked, self.task, station.served if station else None, requests, self.book.board.writer)
        return dataclasses.replace(header, name=f"{self.task.name}-{lap.arm.label}-{lap.repeat}-{number}")

    def _tell(self, line: Line, attempt: int, asked: AgentAsked, outcome: Outcome) -> None:
        """How it ended; a toggled attempt is of no arm, so that no arm's rate of success counts it."""
        board, about = self.book.board, {"arm": line.lap.arm.label, "task": self.task.name, "attempt": attempt}
        about |= {"agent": line.agent, "repeat": line.lap.repeat, "seed": asked.seed, "toggled": line.toggled}
        board.writer.event("outcome", **about, **dataclasses.asdict(outcome))
        board.telling.dropped(self.steps - outcome.steps)


def _kind_of(_: int, request: ChatRequest) -> Kind:
    return kind_asked(request.messages)
