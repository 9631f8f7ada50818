"""A request that is given up when the engine it waits for is gone.

A killed server does not always close its connections: processes that it has left behind may hold them open, and a
client would wait for an answer until its time is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from labkit.core.errors import EngineError, RequestFailed

Watch = Callable[[], None]
"""Raises EngineError when the engine is gone. Called in a thread."""
_EVERY_S = 2.0


@asynccontextmanager
async def watched(watch: Watch | None) -> AsyncIterator[None]:
    """Ask `watch` again and again while the body waits; raises RequestFailed with its words as soon as it raises."""
    if watch is None:
        yield
        return
    gone: list[EngineError] = []
    try:
        async with asyncio.timeout(None) as limit:
            looking = asyncio.create_task(_look(watch, limit, gone), name="labkit watch")
            try:
                yield
            finally:
                looking.cancel()
    except TimeoutError:
        if not gone:
            raise
        raise RequestFailed(gone[0].message, gone[0].hint) from gone[0]


async def _look(watch: Watch, limit: asyncio.Timeout, gone: list[EngineError]) -> None:
    while not gone:
        await asyncio.sleep(_EVERY_S)
        try:
            await asyncio.to_thread(watch)
        except EngineError as error:
            gone.append(error)
            limit.reschedule(asyncio.get_running_loop().time())
