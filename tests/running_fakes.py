"""Fake engines beside a test that must itself stay in the main thread, as a command does that listens to signals."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from labkit.engines.fake import FakeDials, FakeEngine


@contextmanager
def running(*dials: FakeDials) -> Iterator[list[FakeEngine]]:
    """One engine for each of the dials, served by a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    engines = [FakeEngine(each) for each in dials]
    try:
        for engine in engines:
            asyncio.run_coroutine_threadsafe(engine.__aenter__(), loop).result(10)
        yield engines
    finally:
        for engine in engines:
            asyncio.run_coroutine_threadsafe(engine.__aexit__(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
