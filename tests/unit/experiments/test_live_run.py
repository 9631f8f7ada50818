"""A live run on fake engines with known answers: a toggle acts on the next step, and what was toggled pairs with none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from synthetic import recording

from labkit.analysis.arms import arm_table
from labkit.core.arms import Arm, arm_named
from labkit.core.errors import BadInput, EngineDied, EngineError, UnknownName
from labkit.core.progress import OnProgress, Progress, silent
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_run import run_laps
from labkit.experiments.serving import Served, StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import save

BLOCK = 16
DIALS = {"ttft_s": 0.05, "itl_s": 0.002, "block_size": BLOCK, "reply_tokens": 4}


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(save(recording("tiny", turns=6), tmp_path / "tiny.jsonl"))


@asynccontextmanager
async def engines(*arms: str, **dials: Any):
    """An engine for each arm that is named, `base+prefix`-wise sharing one under `base,prefix`."""
    async with AsyncExitStack() as stack:
        urls: dict[str, str] = {}
        for names in arms:
            engine = await stack.enter_async_context(FakeEngine(FakeDials(**{**DIALS, **dials})))
            urls |= dict.fromkeys(names.split(","), engine.base_url)
        yield StaticProvider(urls, "fake", BLOCK)


class Hand:
    """Wishes as a hand on the page makes them: `when` a step has ended, `arm` is wished for."""

    def __init__(self, *plan: tuple[int, str]) -> None:
        self.plan = list(plan)
        self.wish: Arm | None = None
        self.asked_at: dict[str, float] = {}

    def seen(self, progress: Progress) -> None:
        if self.plan and self.wish is None and (progress.done or 0) >= self.plan[0][0]:
            _, arm = self.plan.pop(0)
            self.wish, self.asked_at[arm] = arm_named(arm), time.monotonic()

    def __call__(self) -> Arm | None:
        wish, self.wish = self.wish, None
        return wish


async def live(source: str, provider: Any, root: Path, hand: Hand | None = None, **asked: Any) -> Run:
    hand = hand or Hand()
    question = LiveAsked(**{"profile": "cpu-smollm2", "recording": source, "gaps": False, **asked})
    return await run_laps(question, provider, store=RunStore(root), on_progress=hand.seen, wishes=hand)


def told(run: Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["type"] == kind]


def measured(run: Run):
    steps = run.steps()
    return steps[~steps["warmup"]]


async def test_laps_alternate_between_the_arms_and_pair(source: str, tmp_path: Path):
    async with engines("base,prefix") as provider:
        done = await live(source, provider, tmp_path, laps=2)
    assert done.info.state == "done", done.info.note
    laps = [(event["arm"], event["repeat"]) for event in told(done, "lap")]
    assert laps == [("base", 0), ("prefix", 0), ("base", 1), ("prefix", 1)]
    rows = measured(done)
    assert not rows.duplicated(["arm", "task", "recording", "agent", "condition", "cache", "repeat", "turn"]).any()
    assert set(rows["condition"]) == {""}
    table = arm_table(done.steps(), done.chunks()).set_index("arm")
    assert table.loc["prefix", "n_pairs"] == 12
    assert table.loc["base", "hit_rate"] == 0
    assert table.loc["prefix", "hit_rate"] == pytest.approx(table.loc["prefix", "hit_ceiling"])
    assert 0 < table.loc["prefix", "hit_ceiling"] == pytest.approx(table.loc["base", "hit_ceiling"])
    assert len(told(done, "sent")) == len(rows) == 24
    counters = told(done, "counters")
    assert [(c["arm"], c["repeat"]) for c in counters] == laps
    assert "toggled" not in done.info.note


async def test_a_toggle_between_warm_arms_acts_on_the_next_step(source: str, tmp_path: Path):
    hand = Hand((8, "spec"), (10, "base"), (13, "spec"))
    async with engines("base,prefix", "spec") as provider:
        done = await live(source, provider, tmp_path, hand, arms=("base", "prefix"), laps=2)
    assert done.info.state == "done", done.info.note
    assert [event["arm"] for event in told(done, "steer")] == ["spec", "base", "spec"]
