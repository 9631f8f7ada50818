"""An agent's line to the switchboard: a model that asks it, request by request, which arm serves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from labkit.core.chat import ChatRequest, Reply
from labkit.core.errors import RequestFailed
from labkit.core.records import Kind
from labkit.experiments.live_board import Board
from labkit.experiments.live_holds import Station
from labkit.experiments.live_keeping import Keeping
from labkit.experiments.live_lap import Lap
from labkit.experiments.rows import Place
from labkit.traffic.replay import Replayed
from labkit.traffic.salt import SaltPolicy, fresh

KindOf = Callable[[int, ChatRequest], Kind]


@dataclass
class Line:
    """One agent in one lap. `kind_of`: of the step with this turn; `keeping`: told before and after each request.

    Every lap and agent has a salt base of its own; the arm that serves decides whether each request has its own salt.
    """

    board: Board
    lap: Lap
    agent: str
    task: str
    recording: str
    history: str
    kind_of: KindOf
    keeping: Keeping
    base: str = field(default_factory=fresh)
    turn: int = 0
    toggled: bool = False
    """Whether another arm than the lap's has served a step: from then on what is cached is not what it would be."""
    station: Station | None = None
    waited_s: float = 0.0
    """How long the last request could not leave, since an engine was started or its counters were read."""

    @property
    def condition(self) -> str:
        return self.lap.condition(self.toggled)

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request. Raises RequestFailed, and EngineError when nobody serves any more."""
        self.turn += 1
        began = self.board.clock.now()
        async with self.board.sending() as station:
            self.station = station
            self.toggled = self.toggled or station.arm != self.lap.arm
            await self.keeping.before(station, self.condition)
            self.waited_s = self.board.clock.now() - began
            self._sent(station, request)
            reply, failure = await self._answer(station, request)
        await self.keeping.after(station, request, reply)
        if reply is None:
            await self.board.failed(station)
            raise failure or RequestFailed("no reply came")
        return reply

    async def _answer(self, station: Station, request: ChatRequest) -> tuple[Reply | None, RequestFailed | None]:
        try:
            return await station.client.chat(self._salted(station, request)), None
        except RequestFailed as failure:
            return None, failure

    def settled(self, done: Replayed) -> Replayed:
        """The step as if it had been due when it could leave: waiting for an engine is no lag of the client."""
        t_send = done.t_send if done.reply else min(done.t_send + self.waited_s, done.t_end)
        return dataclasses.replace(done, t_intended=min(done.t_intended + self.waited_s, t_send), t_send=t_send)

    def place(self) -> Place:
        """Where the row of the last step belongs."""
        assert self.station is not None
        return Place(
            run=self.board.writer.id,
            arm=self.station.arm.label,
            task=self.task,
            recording=self.recording,
            condition=self.condition,
            agent=self.agent,
            repeat=self.lap.repeat,
            switched_by=self.station.served.switched_by,
            history=self.history,
            engine=self.station.engine,
            t0=self.board.writer.t0,
        )

    def _salted(self, station: Station, request: ChatRequest) -> ChatRequest:
        policy = SaltPolicy(per_request=station.served.switched_by == "salt", base=self.base)
        return dataclasses.replace(request, cache_salt=policy.salt(self.turn), session=self.base)

    def _sent(self, station: Station, request: ChatRequest) -> None:
        about: dict[str, Any] = {"turn": self.turn, "kind": self.kind_of(self.turn, request)}
        about |= {"arm": station.arm.label, "recording": self.recording, "task": self.task}
        about |= {"agent": self.agent, "repeat": self.lap.repeat, "condition": self.condition}
        self.board.writer.event("sent", **about)
