"""One pass by several agents at once: each in a closed loop of its own, all on one engine, over one steady window.

The engine's counters cannot be attributed to a step when several are in flight: they are read around the window, and
what a step's row says of the engine comes from its own reply alone. Nothing but the load runs meanwhile: what could
have been cached is worked out when the agents have stopped, since it takes answers of the engine's tokenizer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from labkit.core.errors import LabError
from labkit.engines.client import EngineClient
from labkit.experiments.crowd import Crowd, shareable
from labkit.experiments.design import Block
from labkit.experiments.load import LoadPass
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Rows
from labkit.experiments.serving import Served
from labkit.experiments.session import Session
from labkit.experiments.window import Window


async def measure_load(
    session: Session, block: Block, served: Served, client: EngineClient, each: LoadPass
) -> Sequence[Rows]:
    """Make the load and keep a row of each step; returns those that count.

    Raises EngineDied when a process of the engine is gone.
    """
    window = Window(each.agents, each.window_s, session.clock)
    crowd = Crowd(session, block, served, client, each, window)
    counters = await _at_work(crowd)
    about = {"arm": block.arm.label, "repeat": block.repeat + each.number, "condition": each.condition}
    times = {name: getattr(window, name) - session.writer.t0 for name in ("start", "end", "close")}
    facts = {"agents": each.agents, "sent": window.counted, "cut": window.flying, "gaps": each.options.gaps}
    tokens = await shareable(crowd.lives, client, served.block_size)
    session.writer.event("window", **about, **times, **facts, **tokens)
    session.writer.event("counters", **about, recording="", cache=each.cache, **counters)
    return crowd.counted


async def _at_work(crowd: Crowd) -> dict[str, Any]:
    """All agents, until the window has closed; returns what the engine's counters grew by in it."""
    errors: list[LabError] = []
    began = crowd.session.clock.now()
    try:
        async with asyncio.TaskGroup() as group:
            offsets = enumerate(crowd.each.offsets())
            agents = [group.create_task(crowd.agent(number, began + offset)) for number, offset in offsets]
            counters = await _through_the_window(crowd)
            for agent in agents:
                agent.cancel()
    except* LabError as several:
        errors.extend(error for error in several.exceptions if isinstance(error, LabError))
    if errors:
        raise errors[0]
    return counters


async def _through_the_window(crowd: Crowd) -> dict[str, Any]:
    window, session, label = crowd.window, crowd.session, crowd.block.label
    many = "1 agent" if crowd.each.agents == 1 else f"{crowd.each.agents} agents"
    session.reporter.say(f"measuring {label}", f"{many}: waiting until all are at work")
    await window.opened()
    meter = await Meter.started(crowd.served.metrics, session.clock)
    await window.run(lambda: session.reporter.tick(label, f"{many}: {window.counted} requests sent"))
    await meter.lap()
    return meter.total()
