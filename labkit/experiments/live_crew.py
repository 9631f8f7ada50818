"""What the agents of a live run do in a lap: all replay one recording, or all work at one task."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from labkit.core.chat import ChatRequest
from labkit.core.records import Kind
from labkit.experiments.live_board import Board
from labkit.experiments.live_keeping import Keeping
from labkit.experiments.live_lap import Lap
from labkit.experiments.live_line import Line
from labkit.experiments.rows import Rows
from labkit.experiments.verdict import Tally
from labkit.traffic.recording import Recording
from labkit.traffic.replay import Replayed, ReplayOptions, replay
from labkit.traffic.salt import SaltPolicy


class Work(Protocol):
    """What one agent does in one lap. `recorded_as`: the recording's name; empty of live agents."""

    @property
    def recorded_as(self) -> str: ...

    @property
    def steps(self) -> int:
        """The most steps of one agent in one lap."""
        ...

    async def agent(self, lap: Lap, number: int, keeping: Keeping) -> None:
        """One agent, once through. Raises EngineError when no engine serves any more."""
        ...


@dataclass
class Book:
    """Where steps are kept: rows in the tables, counts by the arm that served, and how far the run is."""

    board: Board
    tally: Tally = field(default_factory=Tally)
    toggled: int = 0
    """Steps that another arm than the lap's served, or that came after one."""

    def keep(self, line: Line, done: Replayed, keeping: Keeping) -> Rows:
        """Write the step that has just ended."""
        assert line.station is not None
        rows = keeping.rows(line.place(), line.settled(done), line.station)
        self.board.writer.step(rows.step, rows.chunks, rows.texts)
        self.tally.count(rows.step.arm, rows.step.error)
        self.toggled += bool(rows.step.condition)
        self.board.telling.step(rows.step.arm, _in_words(rows))
        return rows


@dataclass
class Replaying:
    """Agents that replay one recording."""

    book: Book
    recording: Recording
    options: ReplayOptions

    @property
    def recorded_as(self) -> str:
        return self.recording.header.name

    @property
    def steps(self) -> int:
        return self.options.count(self.recording)

    async def agent(self, lap: Lap, number: int, keeping: Keeping) -> None:
        """Replay it once. Raises EngineError when no engine serves any more."""
        board, sent = self.book.board, 0
        line = self._line(lap, str(number), keeping)
        due = board.clock.now() if keeping.paced else None
        made = replay(self.recording, line, self.options, SaltPolicy(base=line.base), clock=board.clock, due=due)
        try:
            async with aclosing(made) as steps:
                async for done in steps:
                    sent += 1
                    self.book.keep(line, done, keeping)
        finally:
            await keeping.end()
        board.telling.dropped(self.steps - sent)

    def _line(self, lap: Lap, agent: str, keeping: Keeping) -> Line:
        header = self.recording.header

        def kind_of(turn: int, _: ChatRequest) -> Kind:
            return self.recording.steps[turn - 1].kind

        return Line(self.book.board, lap, agent, header.task, header.name, "recorded", kind_of, keeping)


def _in_words(rows: Rows) -> str:
    step = rows.step
    who = f"agent {step.agent}, turn {step.turn}"
    if step.error:
        return f"{who}: failed: {step.error}"
    ttft = "" if step.t_first_token is None else f"TTFT {step.t_first_token - step.t_send:.2f} s"
    cached = "" if step.cached_tokens is None else f"{step.cached_tokens} of {step.prompt_tokens} tokens cached"
    return ": ".join(filter(None, (who, ", ".join(filter(None, (ttft, cached))))))
