"""Gauges of the engine that is served, in the run: the right engine's, right numbers, and never a reason to fail."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

from factorials import asked, saved

from labkit.core.arms import Arm
from labkit.core.chat import ChatRequest
from labkit.core.clock import SystemClock
from labkit.core.progress import OnProgress, silent
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.runner import run_design
from labkit.experiments.sampling import engine_sampled
from labkit.experiments.serving import Served, StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.telemetry.engine_source import EngineSource
from labkit.telemetry.names import KV_USAGE, RUNNING, WAITING


def engine_rows(run: Run):
    samples = run.samples()
    return samples[samples["name"].isin([KV_USAGE, RUNNING, WAITING])]


async def test_kv_usage_and_requests_that_run_and_wait_are_in_the_run(tmp_path: Path):
    """Two requests of 10 tokens in blocks of 4, of which there are 32, and a place for one of them at a time."""
    dials = FakeDials(ttft_s=0.2, block_size=4, num_blocks=32, max_num_seqs=1, reply_tokens=2)
    clock = SystemClock()
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        served = Served(
            engine="e1", base_url=engine.base_url, model="fake", switched_by="flag",
            metrics={"engine": f"{engine.base_url}/metrics"},
        )  # fmt: skip
        with RunStore(tmp_path).create("quick", {}, {}) as writer:
            async with engine_sampled(writer, served, clock, interval_s=0.02):
                request = ChatRequest(messages=[{"role": "user", "content": "a" * 28}])
                await asyncio.gather(model.chat(request), model.chat(request))
    rows = engine_rows(RunStore(tmp_path).open(writer.id))
    assert set(rows["source"]) == {"e1/engine"}
    assert rows["t"].is_monotonic_increasing
    peaks = rows.groupby("name")["value"].max().to_dict()
    assert peaks == {KV_USAGE: 3 / 32, RUNNING: 1, WAITING: 1}
    last = rows.groupby("name")["value"].last().to_dict()
    assert last == {KV_USAGE: 0, RUNNING: 0, WAITING: 0}


async def test_each_block_has_the_samples_of_its_own_engine(tmp_path: Path):
    async with FakeEngine(FakeDials()) as one, FakeEngine(FakeDials()) as two:
        question = asked(saved(tmp_path, "one"), "base", "prefix")
        provider = StaticProvider({"base": one.base_url, "prefix": two.base_url}, "fake", 16)
        run = await run_design("factorial", question, question.design(), provider, store=RunStore(tmp_path / "runs"))
    rows, steps = engine_rows(run), run.steps()
    assert set(rows["source"]) == {f"{engine}/engine" for engine in steps["engine"]}
    for engine, sent in steps.groupby("engine"):
        mine = rows[rows["source"] == f"{engine}/engine"]["t"]
        others = steps[steps["engine"] != engine]
        assert mine.min() < sent["t_end"].min()
        assert mine.max() >= sent["t_end"].max()
        assert not ((mine > others["t_send"].min()) & (mine < others["t_end"].max())).any()


class Unmetered(StaticProvider):
    """Its engine serves, but nobody answers at the address of its metrics."""

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        served = await super().serve(arm, on_progress, spec_method)
        return Served(**{**vars(served), "metrics": {"engine": "http://127.0.0.1:1/metrics"}})


async def test_a_page_that_cannot_be_read_is_an_event_and_the_run_is_done(tmp_path: Path):
    async with FakeEngine(FakeDials()) as engine:
        question = asked(saved(tmp_path, "one"), "base")
        provider = Unmetered({"base": engine.base_url}, "fake", 16)
        run = await run_design("factorial", question, question.design(), provider, store=RunStore(tmp_path / "runs"))
    assert run.info.state == "done"
    assert engine_rows(run).empty
    faults = [event for event in run.events() if event["type"] == "telemetry_fault"]
    assert [event["source"].rpartition("/")[2] for event in faults] == ["engine"]


async def test_a_scrape_holds_the_loop_for_less_than_five_milliseconds():
    """In which no chunk is stamped: measured as CPU of this thread, which also writes the fake's page."""
    async with FakeEngine(FakeDials()) as engine:
        source = EngineSource("e/engine", f"{engine.base_url}/metrics")
        took = []
        for _ in range(20):
            before = time.thread_time()
            await source.read()
            took.append(time.thread_time() - before)
    assert statistics.median(took) < 0.005
