"""Fixed ports that are taken by what is left of an engine, and a router-first start whose router ends."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from unit.engines.plans import plan_of, tiny, until

from labkit.core.errors import EngineDied, PortInUse
from labkit.engines.fleet import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path / "state")
    yield fleet
    fleet.down()


async def test_what_is_left_of_a_dead_engine_is_named_with_the_command_that_ends_it(fleet: Fleet) -> None:
    engine = await fleet.up(plan_of(tiny("decode"), tiny("router"), arm="pd"))
    fixed = replace(engine.plan, fixed=("router",), arm="pd+spec", layout=(tiny("router"),))
    with pytest.raises(PortInUse, match=r"port \d+ \(router\) is in use by \S+ \(pid \d+\)") as alive:
        await fleet.up(fixed)
    assert engine.id not in alive.value.message
    assert "choose another port" in alive.value.hint
    os.kill(engine.process("decode").pid, signal.SIGKILL)
    await until(lambda: engine.status == "dead")
    with pytest.raises(PortInUse, match=f"engine {engine.id} is dead, but not all of it has ended") as dead:
        await fleet.up(fixed)
    assert dead.value.hint == f"End the rest of it: labkit down {engine.id}"
    fleet.down(engine.id)
    again = await fleet.up(fixed)
    assert again.plan.ports["router"] == engine.plan.ports["router"]


async def test_a_router_that_ends_is_told_while_the_engines_still_load(fleet: Fleet) -> None:
    plan = plan_of(
        tiny("prefill", "--slow", "60"), tiny("router", "--die", "no luck"), router_first=True, max_startup_s=60.0
    )
    began = time.monotonic()
    with pytest.raises(EngineDied, match="the router process ended"):
        await asyncio.wait_for(fleet.up(plan), 30)
    assert time.monotonic() - began < 20
    assert fleet.ps() == []
