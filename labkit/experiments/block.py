"""One block: an arm served, warmed up, and measured once over each of its passes."""

from __future__ import annotations

import dataclasses
from functools import partial

from labkit.core.errors import EngineBusy, EngineError
from labkit.engines.client import EngineClient
from labkit.experiments.bystanders import Bystanders
from labkit.experiments.design import Block, Pass
from labkit.experiments.first_counters import first_counters
from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.one_agent import measure_pass
from labkit.experiments.salts import Salts
from labkit.experiments.sampling import engine_sampled
from labkit.experiments.sending import send
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.experiments.warming import warm_up
from labkit.experiments.warmup import warmup


async def measure(session: Session, number: int) -> None:
    """Measure what is left of the `number`-th block; an arm that cannot be served is noted and left out.

    Raises EngineBusy.
    """
    block = session.design.blocks[number]
    if block.label in session.tally.refused:
        return session.skip(number)
    measured_before = session.reporter.done
    try:
        served = await _serve(session, block, number)
        with session.provider.locked(served, session.writer.id), kept_logs(served, session.writer.log_dir):
            async with (
                served.client(session.clock, session.watch(served)) as client,
                engine_sampled(session.writer, served, session.clock),
            ):
                await _warm_up(session, block, served, client)
                await _timed(session, number, served, client)
    except EngineBusy:
        raise
    except EngineError as error:
        session.lost(number, error, session.design.count(number) - (session.reporter.done - measured_before))


async def _serve(session: Session, block: Block, number: int) -> Served:
    try:
        if session.design.fresh_starts:
            await session.provider.renew()
        served = await session.provider.serve(block.arm, session.reporter.starting(number), block.spec_method)
    finally:
        session.reporter.forecast.start_left(number, 0.0)
    about = {"block": number, "arm": block.arm.label, "label": block.label, "repeat": block.repeat}
    served.tell(session.writer, **about)
    session.tally.remarks += [f"{block.label}: {words}" for words in served.trouble]
    first = await first_counters(served.metrics, session.clock)
    session.writer.event("first_counters", **about, engine=served.engine, processes=first)
    return served


async def _warm_up(session: Session, block: Block, served: Served, client: EngineClient) -> None:
    """Send what is thrown away; its rows are kept and marked."""
    session.reporter.say(f"warming up {block.label}")
    requests = warmup([sent for each in session.design.passes(block) for sent in each.sends])
    await warm_up(
        requests,
        served,
        client,
        place=session.place(block, served, Pass(recording=requests), warmup=True),
        writer=session.writer,
        clock=session.clock,
        after_failure=partial(session.check_alive, served),
    )


async def _timed(session: Session, number: int, served: Served, client: EngineClient) -> None:
    """All passes that are left, one after the other. What others took from the machine meanwhile is noted."""
    block = session.design.blocks[number]
    bystanders, salts = Bystanders(served.pids), Salts(per_request=served.switched_by == "salt")
    for place, each in session.design.left(number):
        if not salts.primed(each):  # its cold pass was measured before the run was cut short
            await _prime(session, block, served, client, each, salts)
        with session.measuring(number, place, each):
            await send(session, block, served, client, each, salts)
    if served.pids:
        session.disturbed(block, bystanders.cores())


async def _prime(
    session: Session, block: Block, served: Served, client: EngineClient, warm: Pass, salts: Salts
) -> None:
    """Send the cold pass that a warm one follows once more, and throw it away."""
    cold = dataclasses.replace(warm, cache="cold")
    await measure_pass(session, block, served, client, cold, salts.of(cold), thrown_away=True)
