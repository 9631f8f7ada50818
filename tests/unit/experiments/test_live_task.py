"""Live agents at a task, toggled meanwhile: tools and check are real, each attempt is judged and leaves a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labkit.analysis.outcomes import outcomes
from labkit.core.arms import Arm, arm_named
from labkit.core.progress import Progress
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_run import run_laps
from labkit.experiments.serving import StaticProvider
from labkit.experiments.solved import solved_tasks
from labkit.experiments.view import view
from labkit.store.runs import Run, RunStore
from labkit.traffic.several import split

TASK, STEPS = "evict-one-late", 4


async def live(root: Path, wish_at: int | None = None, **asked: Any) -> Run:
    """Under base and prefix; `prefix+spec` is wished for once so many steps have ended."""
    wishes, at = list[Arm](), [] if wish_at is None else [wish_at]

    def seen(progress: Progress) -> None:
        if at and progress.done == at[0]:
            at.clear()
            wishes.append(arm_named("prefix+spec"))

    dials = {"ttft_s": 0.1, "block_size": 16}
    async with FakeEngine(FakeDials(**dials)) as one, FakeEngine(FakeDials(**dials, num_spec_tokens=2)) as two:
        urls = {"base": one.base_url, "prefix": one.base_url, "prefix+spec": two.base_url}
        question = LiveAsked(**{"profile": "cpu-smollm2", "task": TASK, "steps": STEPS, "temperature": 0.0, **asked})
        return await run_laps(
            question,
            StaticProvider(urls, "fake", 16),
            store=RunStore(root),
            on_progress=seen,
            wishes=lambda: wishes.pop() if wishes else None,
        )


def measured(run: Run) -> pd.DataFrame:
    steps = run.steps()
    return steps[~steps["warmup"]]


async def test_one_agent_has_counters_ceilings_and_a_verdict(tmp_path: Path):
    done = await live(tmp_path)
    assert done.info.state == "done", done.info.note
    rows = measured(done)
    assert set(rows["history"]) == {"live"}
    assert set(rows["recording"]) == {""}
    assert rows["server_s"].notna().all()
    assert rows["ceiling_tokens"].notna().all()
    cached = rows[rows["arm"] == "prefix"].set_index("turn")
    assert cached.loc[2, "cached_tokens"] == cached.loc[2, "ceiling_tokens"] > 0
    judged = outcomes(done.events())
    assert list(judged["arm"]) == ["base", "prefix"]
    assert not judged["reached"].any()
    assert list(solved_tasks(done.info, done.events())["solved"]) == [False, False]
    made = split(done.recordings())
    assert [(each.header.name, len(each.steps)) for each in made] == [
        (f"{TASK}-base-0-0", len(rows) // 2), (f"{TASK}-prefix-0-0", len(rows) // 2)
    ]  # fmt: skip
    kinds = [event["kind"] for event in done.events() if event["type"] == "sent"]
    assert kinds == list(rows["kind"])
    table = view(done).table()
    assert table["n_pairs"].sum() == 0  # every attempt goes its own way
    assert view(done).summary == f"{TASK} under base, prefix: {len(rows)} steps measured, 0 failed"


@pytest.mark.parametrize("agents", [1, 3])
async def test_a_toggled_attempt_counts_for_no_arm(tmp_path: Path, agents: int):
    done = await live(tmp_path, wish_at=1, arms=("base",), agents=agents, laps=2)
    assert done.info.state == "done", done.info.note
    judged = [event for event in done.events() if event["type"] == "outcome"]
    assert len(judged) == 2 * agents
    toggled = [event["toggled"] for event in judged]
    assert toggled == [True] * agents + [False] * agents
    assert set(outcomes(done.events())["arm"]) == {"prefix+spec"}
    made = split(done.recordings())
    assert len(made) == 2 * agents
    assert all(len(each.steps) >= 2 for each in made)
    assert view(done).arms == ["base", "prefix+spec"]
    assert {event["attempt"] for event in judged if not event["toggled"]} == set(range(agents))
