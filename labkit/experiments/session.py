"""What the blocks of one run share: where rows go, what is replayed, who serves, and what happened so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from labkit.core.clock import Clock
from labkit.core.errors import EngineDied, EngineError
from labkit.experiments.alive import check_alive
from labkit.experiments.bystanders import MANY_CORES
from labkit.experiments.ceilings import Salted
from labkit.experiments.design import Block, Design, Pass
from labkit.experiments.lament import words_of
from labkit.experiments.reporter import Reporter
from labkit.experiments.rows import Place
from labkit.experiments.serving import EngineProvider, Served
from labkit.experiments.verdict import Tally
from labkit.store.runs import RunWriter


@dataclass
class Session:
    """The state of one run. Mutable; owned by the runner."""

    writer: RunWriter
    design: Design
    provider: EngineProvider
    reporter: Reporter
    clock: Clock
    tally: Tally = field(default_factory=Tally)
    salted: Salted = field(default_factory=Salted)

    def place(self, block: Block, served: Served, each: Pass, *, agent: int = 0, warmup: bool = False) -> Place:
        """Where the rows of one agent of this pass belong."""
        return Place(
            run=self.writer.id,
            arm=block.arm.label,
            task=each.recording.header.task,
            recording=each.recording.header.name,
            condition=each.condition,
            cache=each.cache,
            agent=str(agent),
            repeat=block.repeat,
            switched_by=served.switched_by,
            history=each.options.history,
            mode=each.options.mode,
            engine=served.engine,
            t0=self.writer.t0,
            warmup=warmup,
        )

    def watch(self, served: Served) -> Callable[[], None]:
        """Raises EngineDied, while a request waits, when a process of the engine is gone."""
        return partial(self.provider.check, served)

    async def check_alive(self, served: Served) -> None:
        """After a failed request. Raises EngineDied when it failed because a process is gone."""
        await check_alive(self.provider, served)

    @contextmanager
    def measuring(self, number: int, place: int, each: Pass) -> Iterator[None]:
        """Say when a pass begins and, unless it broke off, that it is done and how it went: a resumed run goes by it.

        `number` of the block, and `place` of the pass in it, both from 0.
        """
        block = self.design.blocks[number]
        about = {"block": number, "pass": place, "arm": block.arm.label, "label": block.label, "repeat": block.repeat}
        about |= {"recording": each.recording.header.name, "condition": each.condition, "cache": each.cache}
        self.writer.event("pass_start", **about)
        before = self.tally.of(block.label)
        yield
        measured, failed = (now - then for now, then in zip(self.tally.of(block.label), before, strict=True))
        self.writer.event("pass_done", **about, measured=measured, failed=failed)

    def skip(self, number: int) -> None:
        """A further block of an arm that was lost."""
        label = self.design.blocks[number].label
        self.reporter.dropped(label, self.design.count(number))
        self.reporter.say(f"skipping {label}")

    def disturbed(self, block: Block, cores: float | None) -> None:
        """Others kept so many cores busy while this block was measured: kept, and said when it is many."""
        self.writer.event("bystanders", arm=block.arm.label, label=block.label, repeat=block.repeat, cores=cores)
        if cores is not None and cores > MANY_CORES:
            self.tally.disturbed[block.label] = max(cores, self.tally.disturbed.get(block.label, 0.0))

    def lost(self, number: int, error: EngineError, steps_left: int) -> None:
        """The arm cannot be served (any more): keep the engine's own words and go on without it."""
        block = self.design.blocks[number]
        label = block.label
        begun = steps_left < self.design.count(number)
        kind = "engine_died" if isinstance(error, EngineDied) and begun else "refused"
        words = words_of(error)
        self.tally.refused[label] = words["message"]
        self.writer.event(kind, arm=block.arm.label, label=label, repeat=block.repeat, **words)
        self.reporter.dropped(label, steps_left)
        self.reporter.say(f"{label} {kind.replace('_', ' ')}", words["message"])
