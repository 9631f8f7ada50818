"""How many agents can an engine serve well enough? A search: double until the objective breaks, then halve the gap.

Each probe is a steady window (or `repeats` of them), all on one engine that is never restarted in between, so that
levels differ by their load alone. What decides is the share of good requests among all that were sent; the estimate and
its interval are made afterwards from all probes (see `analysis.capacity`).
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.analysis.goodput import good
from labkit.analysis.slo import Slo
from labkit.analysis.tables import typed_frame
from labkit.core.records import ChunkRecord, StepRecord
from labkit.engines.client import EngineClient
from labkit.experiments.capacity_asked import CapacityPass, next_level
from labkit.experiments.design import Block
from labkit.experiments.many_agents import measure_load
from labkit.experiments.rows import Rows
from labkit.experiments.serving import Served
from labkit.experiments.session import Session


async def search_capacity(
    session: Session, block: Block, served: Served, client: EngineClient, each: CapacityPass
) -> None:
    """Probe level after level. Raises EngineDied when a process of the engine is gone."""
    done_before, holds = session.reporter.done, dict[int, bool]()
    while (agents := next_level(holds, each.max_agents)) is not None:
        rows: list[Rows] = []
        for number in range(each.repeats):
            rows += await measure_load(session, block, served, client, each.probe(agents, number))
        kept = count_good(rows, each.slo)
        holds[agents] = bool(rows) and kept >= each.slo.share * len(rows)
        facts = {"agents": agents, "sent": len(rows), "good": kept, "holds": holds[agents]}
        session.writer.event("probe", arm=block.arm.label, **facts)
    session.reporter.dropped(block.label, each.count - (session.reporter.done - done_before))
    held = max((agents for agents, held in holds.items() if held), default=0)
    session.reporter.say(
        f"measured {block.label}", f"the objective held up to agents={held}; levels probed: {len(holds)}"
    )


def count_good(rows: Sequence[Rows], slo: Slo) -> int:
    """How many of these steps were good."""
    steps = typed_frame(StepRecord, [each.step for each in rows])
    chunks = typed_frame(ChunkRecord, [chunk for each in rows for chunk in each.chunks])
    return int(good(steps, chunks, slo).sum()) if rows else 0
