"""A trajectory of a real run: its texts are those that were hashed, its tokens those that the engine counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine
from labkit.experiments.agent_run import AgentAsked, run_live
from labkit.experiments.asked import Asked
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.trajectory.records import Trajectory
from labkit.experiments.dashboard.trajectory.trajectory import trajectory
from labkit.experiments.dashboard.trajectory.which import trajectories
from labkit.experiments.runner import run_replay
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import named, sha256
from labkit.traffic.said import said_sha256
from labkit.traffic.several import split

pytestmark = pytest.mark.engine
RECORDING, STEPS = "ranks-that-jump-live", 4


@pytest.fixture
async def engine(fleet: Fleet, plan_for) -> Engine:
    return await fleet.up(plan_for("prefix+spec"))


def only(run: Run) -> Trajectory:
    opened = Opened(run)
    (which,) = trajectories(opened)
    return trajectory(opened, which)


def check_tokens(talk: Trajectory) -> None:
    """Sums are the engine's; after the first request only messages that came at once are estimated."""
    for turn in talk.turns:
        segments = talk.segments(turn)
        assert sum(segment.tokens for segment in segments) == turn.prompt_tokens
        assert sum(segment.cached for segment in segments) == turn.cached_tokens
        assert sum(count for _, count in turn.reply.made.runs) == turn.reply.tokens
        assert turn.reply.made.of("accepted") + turn.reply.made.cut == turn.reply.accepted
        assert turn.reply.made.ordered
    assert not any(line.share.estimated for line in talk.lines if line.reply)
    assert any(turn.reply.accepted for turn in talk.turns)


async def test_of_a_live_agent(engine: Engine, tmp_path: Path):
    asked = AgentAsked(task="evict-one-late", profile="cpu-smollm2", arm="prefix+spec", steps=STEPS)
    provider = StaticProvider({"prefix+spec": engine.base_url}, engine.model, 32)
    done = await run_live(asked, provider, store=RunStore(tmp_path))
    talk = only(done.run)
    check_tokens(talk)
    assert talk.note == ""
    assert talk.reached is False
    assert [line.role for line in talk.lines[:3]] == ["tools", "system", "user"]
    said = {each.turn: each.reply for each in done.run.replies()}
    for turn in talk.turns:
        assert turn.reply.text_sha256 == said_sha256(said[turn.turn])
    tools = [line.text for line in talk.lines if line.role == "tool"]
    assert tools == [
        message["content"] for step in done.recording.steps for message in step.append if message["role"] == "tool"
    ]


async def test_of_a_replay(engine: Engine, tmp_path: Path):
    asked = Asked(profile="cpu-smollm2", recording=RECORDING, arms=("prefix+spec",), steps=STEPS)
    provider = StaticProvider({"prefix+spec": engine.base_url}, engine.model, 32)
    run = await run_replay("replay", asked, provider, store=RunStore(tmp_path))
    talk = only(run)
    check_tokens(talk)
    (kept,) = split(run.recordings())
    assert sha256(kept) == sha256(named(RECORDING)) == run.info.fingerprint["recordings"][RECORDING]
    said = {each.turn: each.reply for each in run.replies() if each.recording == RECORDING}
    for turn in talk.turns:
        assert turn.reply.text_sha256 == said_sha256(said[turn.turn])
        recorded = kept.steps[turn.turn - 1].reply
        assert turn.reply.same is (said_sha256(recorded) == said_sha256(said[turn.turn]))
