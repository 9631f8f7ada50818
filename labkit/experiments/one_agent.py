"""One pass by one agent: each request after the reply to the one before, the engine's counters read in between."""

from __future__ import annotations

from contextlib import aclosing

from labkit.engines.client import EngineClient
from labkit.experiments.ceilings import Ceiling
from labkit.experiments.design import Block, Pass
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Rows, rows_of
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.traffic.replay import Replayed, replay
from labkit.traffic.salt import SaltPolicy


async def measure_pass(
    session: Session,
    block: Block,
    served: Served,
    client: EngineClient,
    each: Pass,
    salt: SaltPolicy,
    *,
    thrown_away: bool = False,
) -> None:
    """Send the pass and keep a row of each step. Raises EngineDied when a process of the engine is gone.

    `thrown_away`: its rows are marked as warm-up, and it does not count as progress.
    """
    place = session.place(block, served, each, warmup=thrown_away)
    meter = await Meter.started(served.metrics, session.clock)
    ceiling = Ceiling(client, session.salted.of(each, served.block_size))
    before = session.clock.now()
    async with aclosing(replay(each.recording, client, each.options, salt, clock=session.clock)) as steps:
        async for done in steps:
            around = await meter.lap()
            rows = rows_of(place, done, around, await ceiling.of(done, meter.by))
            session.writer.step(rows.step, rows.chunks, rows.texts)
            if not thrown_away:
                _count(session, block, done, rows, done.t_end - before)
            before = done.t_end
            if done.error:
                await session.check_alive(served)
    if not thrown_away:
        session.writer.event("counters", arm=block.arm.label, repeat=block.repeat, **_which(each), **meter.total())


def _which(each: Pass) -> dict[str, str]:
    return {"recording": each.recording.header.name, "condition": each.condition, "cache": each.cache}


def _count(session: Session, block: Block, done: Replayed, rows: Rows, seconds: float) -> None:
    session.tally.count(block.label, done.error)
    session.reporter.step(block.label, done.step.turn, seconds, _in_words(rows))


def _in_words(rows: Rows) -> str:
    step = rows.step
    if step.error:
        return f"failed: {step.error}"
    ttft = "" if step.t_first_token is None else f"TTFT {step.t_first_token - step.t_send:.2f} s"
    cached = "" if step.cached_tokens is None else f"{step.cached_tokens} of {step.prompt_tokens} tokens cached"
    return ", ".join(filter(None, (ttft, cached)))
