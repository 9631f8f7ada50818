"""One block: an arm served, warmed up, and measured once over each of its passes."""

from __future__ import annotations

from contextlib import aclosing

from labkit.core.errors import EngineBusy, EngineError
from labkit.engines.client import EngineClient
from labkit.experiments.bystanders import Bystanders
from labkit.experiments.design import Block, Pass
from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.meter import Meter
from labkit.experiments.one_agent import measure_pass
from labkit.experiments.rows import rows_of
from labkit.experiments.salts import Salts
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.experiments.warmup import warmup
from labkit.traffic.replay import ReplayOptions, replay
from labkit.traffic.salt import SaltPolicy


async def measure(session: Session, block: Block, number: int) -> None:
    """Measure the `number`-th block; an arm that cannot be served is noted and left out. Raises EngineBusy."""
    if block.label in session.tally.refused:
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
        session.lost(block, error, session.design.count(block) - (session.reporter.done - measured_before))


async def _serve(session: Session, block: Block, number: int) -> Served:
    try:
        served = await session.provider.serve(block.arm, session.reporter.starting(number), block.spec_method)
    finally:
        session.reporter.forecast.start_left(number, 0.0)
    session.writer.event("serving", arm=block.arm.label, repeat=block.repeat, **served.facts())
    return served


async def _warm_up(session: Session, block: Block, served: Served, client: EngineClient) -> None:
    """Send what is thrown away; its rows are kept and marked."""
    session.reporter.say(f"warming up {block.label}")
    requests = warmup([(each.recording, each.options.count(each.recording)) for each in session.design.passes(block)])
    place = session.place(block, served, Pass(recording=requests), warmup=True)
    meter = await Meter.started(served.metrics, session.clock)
    async with aclosing(replay(requests, client, ReplayOptions(), SaltPolicy(), clock=session.clock)) as steps:
        async for done in steps:
            rows = rows_of(place, done, await meter.lap())
            session.writer.step(rows.step, rows.chunks)
            if done.error:
                await session.check_alive(served)


async def _timed(session: Session, block: Block, served: Served, client: EngineClient) -> None:
    """All passes, one after the other. What others took from the machine meanwhile is noted."""
    bystanders, salts = Bystanders(served.pids), Salts(per_request=served.switched_by == "salt")
    for each in session.design.passes(block):
        await measure_pass(session, block, served, client, each, salts.of(each))
    if served.pids:
        session.disturbed(block, bystanders.cores())
