"""A run whose client is held up is marked so; the same run with a client that has time is not.

The engine is a process of its own, so that what blocks this loop blocks the client alone.
"""

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from synthetic import recording

from labkit.analysis.client_bound import client_bound
from labkit.cli.notes import client_line
from labkit.core.chat import Chunk
from labkit.engines.client import EngineClient
from labkit.experiments.asked import Asked
from labkit.experiments.runner import run_replay
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import save

pytestmark = pytest.mark.alone

HELD_S = 0.05


@asynccontextmanager
async def engine() -> AsyncIterator[str]:
    """The fake as a process, a chunk of four tokens each 200 ms; its URL."""
    argv = ("-m", "labkit.engines.fake", "--itl-s", "0.05", "--stream-interval", "4", "--ttft-s", "0.2")
    process = await asyncio.create_subprocess_exec(sys.executable, *argv, stdout=asyncio.subprocess.PIPE)
    try:
        line = (await process.stdout.readline()).decode()
        yield re.search(r"http://\S+", line).group()
    finally:
        process.terminate()
        await process.wait()


async def hog(blocked_s: float) -> None:
    """Holds the loop again and again, and lets it breathe in between."""
    while True:
        time.sleep(blocked_s)  # noqa: ASYNC251 (the fault that is to be seen)
        await asyncio.sleep(0.01)


async def measured(root: Path, url: str) -> Run:
    heard = save(recording(turns=4), root / "tiny.jsonl")
    asked = Asked(profile="cpu-smollm2", recording=str(heard), arms=("prefix",))
    return await run_replay("replay", asked, StaticProvider({"prefix": url}, "fake"), store=RunStore(root))


async def test_a_blocked_client_is_marked_and_a_free_one_is_not(tmp_path: Path):
    async with engine() as url:
        task = asyncio.create_task(hog(HELD_S))
        blocked = await measured(tmp_path, url)
        task.cancel()
        for _ in range(3):  # a machine that others keep busy may hold up a free client, too, but not time and again
            free = await measured(tmp_path, url)
            if "client-bound" not in free.info.note:
                break
    assert "client-bound: event loop late by" in blocked.info.note
    assert "client-bound" not in free.info.note
    assert client_line(blocked).startswith("client-bound: loop lag ")
    assert client_line(free).startswith("loop lag ")
    assert (free.steps()["parse_s"].dropna() > 0).all()


async def test_heavy_parsing_is_seen_as_parsing(tmp_path: Path):
    """What is done with each chunk as it arrives counts: nothing else is read meanwhile."""

    def slowly(_: Chunk) -> None:
        time.sleep(0.02)

    run = await _with_parser(tmp_path, slowly)
    verdict = client_bound(run.steps(), run.chunks(), run.samples())
    assert verdict.bound
    assert verdict.parse_p50_s >= 0.02
    assert any(why.startswith("parsing a chunk takes") for why in verdict.why)


async def _with_parser(root: Path, on_chunk: Callable[[Chunk], None]) -> Run:
    """A run of rows made by hand from real replies: the runner itself gives the client nothing to do."""
    from labkit.experiments.rows import Around, Place, rows_of
    from labkit.traffic.replay import ReplayOptions, replay
    from labkit.traffic.salt import SaltPolicy

    with RunStore(root).create("replay", {}, {}) as writer:
        place = Place(
            run=writer.id, arm="base", task="t", repeat=0, switched_by="flag", history="recorded", engine="e",
            t0=writer.t0,
        )  # fmt: skip
        async with engine() as url, EngineClient(url, "fake") as client:

            class Slow:
                async def chat(self, request):
                    return await client.chat(request, on_chunk)

            async for done in replay(recording(turns=2), Slow(), ReplayOptions(), SaltPolicy()):
                rows = rows_of(place, done, Around())
                writer.step(rows.step, rows.chunks)
        writer.finish("done")
    return RunStore(root).open(writer.id)
