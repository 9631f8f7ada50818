"""A small factorial on the real engine, stopped in the middle and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.core.progress import Progress
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments.cold import cold_evidence, resets
from labkit.experiments.factorial import FactorialAsked
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.resume import resume_design
from labkit.experiments.runner import run_design
from labkit.store.runs import RunStore

pytestmark = pytest.mark.engine

ASKED = FactorialAsked(
    profile="cpu-smollm2",
    recordings=("ranks-that-jump-live", "evict-one-late-live"),
    arms=("base", "prefix"),
    steps=2,
    repeats=1,
    seed=1,
    drift_check=False,
)


Provider = Callable[[], FleetProvider]


@pytest.fixture
async def provider(fleet: Fleet, model_path: str) -> AsyncIterator[Provider]:
    """Its engine is up before, so that neither part of the run starts one."""

    def make() -> FleetProvider:
        return FleetProvider(fleet, load_profile(ASKED.profile))

    engine = await fleet.up(make().plan(arm_named("prefix")))
    yield make
    fleet.down(engine.id)


async def test_a_factorial_that_was_stopped_goes_on_where_it_was(provider: Provider, tmp_path: Path):
    store, design = RunStore(tmp_path / "runs"), ASKED.design()

    def watch(progress: Progress) -> None:
        if progress.done == 3:  # in the middle of the second pass
            work.cancel()

    work = asyncio.ensure_future(run_design("factorial", ASKED, design, provider(), store=store, on_progress=watch))
    with pytest.raises(asyncio.CancelledError):
        await work
    cut = store.open("latest")
    assert cut.info.state == "cancelled"
    done = await resume_design(cut, design, provider(), store=store, anyway=True)

    assert done.info.state == "done", done.info.note
    steps = done.steps()
    steps = steps[~steps["warmup"]]
    assert steps.groupby(["arm", "recording"]).size().tolist() == [2, 2, 2, 2]
    assert steps["error"].isna().all()
    ended = [(event["block"], event["pass"]) for event in done.events() if event["type"] == "pass_done"]
    assert ended == [(0, 0), (0, 1), (1, 0), (1, 1)]
    (void,) = (event for event in done.events() if event["type"] == "void")
    assert void["pass"] == 1
    # each pass is cold, and only prefix finds in its second step what its first one left
    assert {each.state for each in cold_evidence(done)} == {"confirmed"}
    assert resets(done.events()) == []
    cached = steps.set_index(["arm", "turn"])["cached_tokens"]
    assert (cached["base"] == 0).all()
    assert (cached["prefix", 1] == 0).all()
    assert (cached["prefix", 2] > 100).all()
