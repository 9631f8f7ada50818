"""Whether an engine still lives, asked after a request has failed."""

from __future__ import annotations

import asyncio

from labkit.experiments.serving import EngineProvider, Served

_DEATH_SHOWS_S = 0.3
"""A process that broke off a stream may still be on its way out: look again after this long."""


async def check_alive(provider: EngineProvider, served: Served) -> None:
    """Raises EngineDied when a process of the engine is gone."""
    provider.check(served)
    await asyncio.sleep(_DEATH_SHOWS_S)
    provider.check(served)
