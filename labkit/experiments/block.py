"""One block: an arm served, warmed up, and measured once over the recording."""

from __future__ import annotations

from contextlib import aclosing

from labkit.core.errors import EngineBusy, EngineError
from labkit.engines.client import EngineClient
from labkit.experiments.bystanders import Bystanders
from labkit.experiments.ceilings import Ceiling
from labkit.experiments.design import Block
from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Rows, rows_of
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.experiments.warmup import TASK, warmup
from labkit.traffic.replay import Replayed, ReplayOptions, replay
from labkit.traffic.salt import SaltPolicy


async def measure(session: Session, block: Block, number: int) -> None:
    """Measure the `number`-th block; an arm that cannot be served is noted and left out. Raises EngineBusy."""
    if block.arm.label in session.tally.refused:
        return session.skip(block)
    measured_before = session.reporter.done
    try:
        served = await _serve(session, block, number)
        with session.provider.locked(served, session.writer.id), kept_logs(served, session.writer.log_dir):
            async with EngineClient(served.base_url, served.model, session.clock) as client:
                await _warm_up(session, block, served, client)
                await _timed(session, block, served, client)
    except EngineBusy:
        raise
    except EngineError as error:
        session.lost(block, error, session.count - (session.reporter.done - measured_before))


async def _serve(session: Session, block: Block, number: int) -> Served:
    try:
        served = await session.provider.serve(block.arm, session.reporter.starting(number))
    finally:
        session.reporter.forecast.start_left(number, 0.0)
    session.writer.event("serving", arm=block.arm.label, repeat=block.repeat, **served.facts())
    return served


async def _warm_up(session: Session, block: Block, served: Served, client: EngineClient) -> None:
    """Send what is thrown away; its rows are kept and marked."""
    session.reporter.say(f"warming up {block.arm}")
    place = session.place(block, served, TASK, warmup=True)
    requests = warmup(session.recording, session.count)
    meter = await Meter.started(served.metrics, session.clock)
    async with aclosing(replay(requests, client, ReplayOptions(), SaltPolicy(), clock=session.clock)) as steps:
        async for done in steps:
            rows = rows_of(place, done, await meter.lap(), None)
            session.writer.step(rows.step, rows.chunks)
            if done.error:
                await session.check_alive(served)


async def _timed(session: Session, block: Block, served: Served, client: EngineClient) -> None:
    place = session.place(block, served, session.recording.header.task)
    meter, ceiling = await Meter.started(served.metrics, session.clock), Ceiling(client, served.block_size)
    salt = SaltPolicy(per_request=served.switched_by == "salt")
    before, bystanders = session.clock.now(), Bystanders(served.pids)
    async with aclosing(replay(session.recording, client, session.options, salt, clock=session.clock)) as steps:
        async for done in steps:
            rows = rows_of(place, done, await meter.lap(), await ceiling.of(done))
            _keep(session, block, done, rows, done.t_end - before)
            before = done.t_end
            if done.error:
                await session.check_alive(served)
    session.writer.event("counters", arm=block.arm.label, repeat=block.repeat, **meter.total())
    if served.pids:
        session.disturbed(block, bystanders.cores())


def _keep(session: Session, block: Block, done: Replayed, rows: Rows, seconds: float) -> None:
    session.writer.step(rows.step, rows.chunks)
    session.tally.count(block.arm.label, done.error)
    session.reporter.step(block.arm.label, done.step.turn, seconds, _in_words(rows))


def _in_words(rows: Rows) -> str:
    step = rows.step
    if step.error:
        return f"failed: {step.error}"
    ttft = "" if step.t_first_token is None else f"TTFT {step.t_first_token - step.t_send:.2f} s"
    cached = "" if step.cached_tokens is None else f"{step.cached_tokens} of {step.prompt_tokens} tokens cached"
    return ", ".join(filter(None, (ttft, cached)))
