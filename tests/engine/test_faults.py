"""Real engines that go wrong: the cause is named quickly, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from engine.conftest import Planner

from labkit.core.arms import arm_named
from labkit.core.errors import EngineDied
from labkit.engines.fleet import Fleet
from labkit.engines.plan import make_plan
from labkit.engines.process import group

pytestmark = pytest.mark.engine


def test_a_bad_flag_is_named_with_the_engines_words(fleet: Fleet, plan_for: Planner, model_path: str) -> None:
    settings = plan_for.profile.engine
    bad = settings.model_copy(update={"flags": {**settings.flags, "block-sise": 32}})
    profile = plan_for.profile.model_copy(update={"engine": bad})
    began = time.monotonic()
    with pytest.raises(EngineDied, match="unrecognized arguments: --block-sise") as caught:
        asyncio.run(fleet.up(make_plan(profile, arm_named("base"), model_path=model_path)))
    assert time.monotonic() - began < settings.max_startup_s / 2
    assert "labkit plan" in caught.value.hint
    assert any("--block-sise" in line for line in caught.value.log_tail)
    assert fleet.ps() == []


def test_a_model_that_is_not_there_is_named(fleet: Fleet, plan_for: Planner, tmp_path: Path) -> None:
    plan = make_plan(plan_for.profile, arm_named("base"), model_path=str(tmp_path / "none"))
    with pytest.raises(EngineDied, match="the model was not found"):
        asyncio.run(fleet.up(plan))
    assert fleet.ps() == []


@pytest.mark.skipif(find_spec("arctic_inference") is not None, reason="arctic-inference is installed")
def test_a_missing_drafter_is_refused_in_the_engines_words(fleet: Fleet, plan_for: Planner) -> None:
    with pytest.raises(EngineDied, match="Arctic Inference is required for suffix decoding") as caught:
        asyncio.run(fleet.up(plan_for("spec", spec_method="suffix")))
    assert "make suffix" in caught.value.hint


def test_a_killed_server_leaves_nothing_after_down(fleet: Fleet, plan_for: Planner) -> None:
    engine = asyncio.run(fleet.up(plan_for("prefix")))
    server = engine.process("engine")
    tree = [process.pid for process in group(server)]
    assert len(tree) >= 3  # API server, EngineCore, Worker
    os.kill(server.pid, signal.SIGKILL)
    while engine.alive:
        time.sleep(0.05)
    assert [found.status for found in fleet.ps()] == ["dead"]
    fleet.down(engine.id)
    assert [pid for pid in tree if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"] == []
    assert fleet.ps() == []
