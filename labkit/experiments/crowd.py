"""The agents of one load: each replays recording after recording in a closed loop, until it is cancelled."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import NamedTuple

from labkit.core.chat import Model
from labkit.core.records import StepRecord
from labkit.experiments.ceilings import Ceiling, Tokenizer
from labkit.experiments.design import Block, Pass
from labkit.experiments.load import LoadPass, agent_id
from labkit.experiments.rows import Around, Place, Rows, rows_of
from labkit.experiments.seen import Seen
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.experiments.window import Watched, Window
from labkit.traffic.recording import Recording
from labkit.traffic.replay import Replayed, replay
from labkit.traffic.salt import SaltPolicy


class Lived(NamedTuple):
    """One step of an agent, and whether it counts."""

    done: Replayed
    counts: bool


@dataclass
class Crowd:
    """The agents of one pass, the rows that count, and every life: one recording of one agent."""

    session: Session
    block: Block
    served: Served
    client: Model
    each: LoadPass
    window: Window
    counted: list[Rows] = field(default_factory=list)
    lives: list[list[Lived]] = field(default_factory=list)

    async def agent(self, number: int, due: float) -> None:
        """One agent, from the moment at which it is due; it never ends by itself. Raises EngineDied."""
        life = 0
        while True:
            recording = self.each.recording_of(number, life)
            due = await self._life(number, recording, self._place(recording, agent_id(number, life)), due)
            life += 1

    async def _life(self, number: int, recording: Recording, place: Place, due: float) -> float:
        """One recording from its first step; returns when the next one is due."""
        watched, lived = Watched(self.client, self.window), list[Lived]()
        self.lives.append(lived)
        salt = SaltPolicy(per_request=self.served.switched_by == "salt")
        options, clock = self.each.options, self.session.clock
        async with aclosing(replay(recording, watched, options, salt, clock=clock, due=due)) as steps:
            async for done in steps:
                lived.append(Lived(done, watched.counts))
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
        self.session.writer.step(rows.step, rows.chunks, rows.texts)
        if counts:
            self.counted.append(rows)
            self.session.tally.count(self.block.label, done.error)

    def _place(self, recording: Recording, agent: str) -> Place:
        one = Pass(recording=recording, options=self.each.options, condition=self.each.condition, cache=self.each.cache)
        place = self.session.place(self.block, self.served, one)
        return dataclasses.replace(place, agent=agent, repeat=self.block.repeat + self.each.number)


def _attributable(step: StepRecord, split: bool) -> StepRecord:
    """The reply of a split engine tells decode's side of queue and prefill only, which is not the step's."""
    return dataclasses.replace(step, queue_s=None, prefill_s=None, server_s=None) if split else step


async def shareable(
    lives: Sequence[Sequence[Lived]], tokenizer: Tokenizer, block_size: int | None
) -> dict[str, int | None]:
    """Prompt tokens of the steps that count, and how many of them an infinite cache could have served; None: not known.

    Each life has a salt, so nothing is shared between two of them. It asks the engine's tokenizer: only when all is
    over.
    """
    prompt, ceiling = 0, 0
    for lived in lives:
        seen = Ceiling(tokenizer, Seen(block_size) if block_size else None)
        for done, counts in lived:
            found = await seen.of(done)
            if found.retokenized_tokens is None or found.ceiling_tokens is None:
                return {"prompt_tokens": None, "ceiling_tokens": None}
            prompt += found.retokenized_tokens * counts
            ceiling += found.ceiling_tokens * counts
    return {"prompt_tokens": prompt, "ceiling_tokens": ceiling}
