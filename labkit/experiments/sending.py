"""Who measures a pass: one agent alone, several at once, or a search that decides as it goes."""

from __future__ import annotations

from labkit.core.errors import BadInput
from labkit.engines.client import EngineClient
from labkit.experiments.capacity import search_capacity
from labkit.experiments.capacity_asked import CapacityPass
from labkit.experiments.design import Block, Pass
from labkit.experiments.load import LoadPass
from labkit.experiments.many_agents import measure_load
from labkit.experiments.one_agent import measure_pass
from labkit.experiments.salts import Salts
from labkit.experiments.serving import Served
from labkit.experiments.session import Session


async def send(session: Session, block: Block, served: Served, client: EngineClient, each: Pass, salts: Salts) -> None:
    """Measure the pass and keep its rows. Raises EngineDied when a process of the engine is gone."""
    if isinstance(each, CapacityPass):
        await search_capacity(session, block, served, client, each)
    elif isinstance(each, LoadPass):
        await measure_load(session, block, served, client, each)
    elif each.agents > 1:
        raise BadInput("agents", each.agents, "1, or a LoadPass: a window says when several agents are measured")
    else:
        await measure_pass(session, block, served, client, each, salts.of(each))
