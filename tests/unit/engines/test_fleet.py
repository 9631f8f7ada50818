"""The fleet with processes that stand in for engines: up, found, locked, down; and nothing is left after a fault."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from unit.engines.plans import plan_of, runs, tiny, until

from labkit.core.errors import (
    EngineBusy,
    EngineDied,
    EngineError,
    EngineNotReady,
    NotEnoughMemory,
    PortInUse,
    UnknownName,
    WeightsError,
)
from labkit.core.progress import Progress
from labkit.engines.fleet import Fleet
from labkit.engines.plan_records import ProcessSpec
from labkit.engines.registry import Engine, Registry
from labkit.engines.starting import this_process


@pytest.fixture
def fleet(tmp_path: Path):
    fleet = Fleet(tmp_path / "state")
    yield fleet
    fleet.down()


def processes_of(tmp_path: Path) -> list[int]:
    """Processes that name the folder of this test in their command line."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if process.pid != os.getpid() and any(str(tmp_path) in word for word in process.info["cmdline"] or [])
    ]


async def test_up_finds_what_is_up_and_down_ends_it(fleet: Fleet) -> None:
    plan = plan_of(tiny("prefill"), tiny("decode"), tiny("router"), arm="pd")
    engine = await fleet.up(plan)
    assert (engine.alive, engine.status, engine.model) == (True, "up", "tiny")
    assert engine.base_url == engine.process("router").url
    assert set(engine.metrics_urls) == {"prefill", "decode", "router"}
    assert await fleet.up(plan) == engine == fleet.find(plan)
    assert Fleet(fleet.state_dir).ps() == [engine]
    assert [gone.id for gone in fleet.down(engine.id)] == [engine.id]
    assert fleet.ps() == []
    assert fleet.find(plan) is None
    assert engine.dead_roles == ["prefill", "decode", "router"]


async def test_two_who_want_the_same_plan_start_it_once(fleet: Fleet) -> None:
    plan = plan_of(tiny("engine", "--slow", "0.5"))
    one, two = await asyncio.gather(fleet.up(plan), Fleet(fleet.state_dir).up(plan))
    assert one.id == two.id
    assert len(fleet.ps()) == 1


async def test_progress_says_how_long_and_learns(fleet: Fleet) -> None:
    plan = plan_of(tiny("engine", "--slow", "0.6"), expected_start_s=30.0)
    seen: list[Progress] = []
    engine = await fleet.up(plan, seen.append)
    assert seen[0].message == "starting (0 s of ~30 s): engine"
    assert seen[-1].message.endswith("first token through engine")
    assert 0.6 < fleet.expected_s(plan) < 10.0
    assert 0.6 < (seen[-1].done or 0) < 10.0
    fleet.down(engine.id)


async def test_an_early_death_is_told_with_its_cause_and_not_waited_for(fleet: Fleet, tmp_path: Path) -> None:
    words = "vllm: error: unrecognized arguments: --block-sise"
    plan = plan_of(
        tiny("prefill", "--child", str(tmp_path / "pid")), tiny("decode", "--die", words), max_startup_s=60.0
    )
    began = time.monotonic()
    with pytest.raises(EngineDied, match="the decode process ended: its command line was refused") as caught:
        await fleet.up(plan)
    assert time.monotonic() - began < 10
    assert caught.value.log_tail[-1] == words
    assert processes_of(tmp_path) == []
    assert fleet.ps() == []


async def test_the_deadline_ends_a_start(fleet: Fleet, tmp_path: Path) -> None:
    plan = plan_of(tiny("engine", "--slow", "60", "--child", str(tmp_path / "pid")), max_startup_s=0.5)
    with pytest.raises(EngineNotReady, match="engine did not become ready in time") as caught:
        await fleet.up(plan)
    assert caught.value.log_tail == ("starting",)
    assert processes_of(tmp_path) == []


async def test_healthy_is_not_ready_until_a_token_came(fleet: Fleet) -> None:
    with pytest.raises(EngineNotReady):
        await fleet.up(plan_of(tiny("engine", "--answer", "503"), max_startup_s=1.0))
    assert fleet.ps() == []


async def test_a_cancelled_start_leaves_nothing(fleet: Fleet, tmp_path: Path) -> None:
    plan = plan_of(tiny("engine", "--slow", "60", "--child", str(tmp_path / "pid")), max_startup_s=60.0)
    task = asyncio.create_task(fleet.up(plan))
    await until((tmp_path / "pid").exists)
    assert [engine.status for engine in fleet.ps()] == ["starting"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes_of(tmp_path) == []
    assert fleet.ps() == []


async def test_a_killed_server_is_seen_and_cleaned_up(fleet: Fleet, tmp_path: Path) -> None:
    plan = plan_of(tiny("engine", "--child", str(tmp_path / "pid")))
    engine = await fleet.up(plan)
    child = int((tmp_path / "pid").read_text())
    os.kill(engine.processes[0].pid, signal.SIGKILL)
    await until(lambda: not engine.alive)
    assert (fleet.ps()[0].status, fleet.ps()[0].dead_roles) == ("dead", ["engine"])
    assert fleet.find(plan) is None
    fleet.down(engine.id)
    assert not runs(child)


async def test_what_a_killed_starter_left_is_orphaned_and_ended(fleet: Fleet) -> None:
    engine = await fleet.up(plan_of(tiny("engine")))
    gone = dataclasses.replace(this_process(), created=1.0)
    Registry(fleet.state_dir).write(dataclasses.replace(engine, ready=False, owner=gone))
    assert fleet.ps()[0].status == "orphaned"
    assert not fleet.ps()[0].alive
    fleet.down(engine.id)
    assert engine.dead_roles == ["engine"]


async def test_a_fixed_port_in_use_is_told_before_the_start(fleet: Fleet) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        ports = {"engine": listener.getsockname()[1]}
        with pytest.raises(PortInUse, match=f"pid {os.getpid()}"):
            await fleet.up(plan_of(tiny("engine"), fixed=("engine",), ports=ports))
    assert fleet.ps() == []


async def test_too_little_memory_and_missing_weights_are_told_before_the_start(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(NotEnoughMemory):
        await fleet.up(plan_of(tiny("engine", memory_bytes=1 << 50)))
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path / "none"))
    with pytest.raises(WeightsError, match="labkit models fetch"):
        await fleet.up(plan_of(tiny("engine"), weights="smollm2-135m-instruct"))
    assert fleet.ps() == []


async def test_the_registry_holds_the_plans_environment_and_nothing_else(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "s3cret")
    engine = await fleet.up(plan_of(tiny("engine", env={"PLANNED": "yes"})))
    text = (fleet.state_dir / "engines" / engine.id / "engine.json").read_text()
    assert "PLANNED" in text
    assert "s3cret" not in text
    assert psutil.Process(engine.processes[0].pid).environ()["PLANNED"] == "yes"


async def test_logs_and_ids(fleet: Fleet) -> None:
    engine = await fleet.up(plan_of(tiny("engine"), arm="prefix+spec"))
    assert engine.id.startswith("tiny.prefix-spec.")
    assert fleet.log_tail(engine, "engine", 1) == ["starting"]
    assert fleet.get(engine.id[-4:]) == engine == fleet.get(engine.id)
    with pytest.raises(UnknownName):
        fleet.get("nobody")
    with pytest.raises(UnknownName, match="engine"):
        fleet.log_tail(engine, "decode")


async def test_a_router_that_is_announced_to_starts_first(fleet: Fleet) -> None:
    plan = plan_of(tiny("prefill"), tiny("decode"), tiny("router"), router_first=True)
    engine = await fleet.up(plan)
    assert [process.role for process in engine.processes] == ["router", "prefill", "decode"]
    assert engine.alive


async def test_old_logs_are_kept_for_a_while(fleet: Fleet) -> None:
    engine = await fleet.up(plan_of(tiny("engine")))
    folder = fleet.state_dir / "engines" / engine.id
    fleet.down(engine.id)
    assert (folder / "engine.log").exists()
    assert not (folder / "engine.json").exists()


def test_an_engine_survives_json(tmp_path: Path) -> None:
    engine = Engine(id="e", plan=plan_of(tiny("engine")), processes=(), owner=this_process())
    Registry(tmp_path).write(engine)
    assert Registry(tmp_path).read_all() == [engine]


async def test_an_engine_that_a_run_holds_is_ended_by_force_alone(fleet: Fleet) -> None:
    engine = await fleet.up(plan_of(tiny("engine")))
    other = await fleet.up(plan_of(tiny("engine", "--slow", "0.1")))
    with fleet.lock(engine, "run 7f3a"):
        for asked in (engine.id, None):
            with pytest.raises(EngineBusy, match=r"is held by run 7f3a") as caught:
                fleet.down(asked)
            assert f"labkit down {engine.id} --force" in caught.value.hint
        assert engine.alive
        assert other.alive
        fleet.down(engine.id, force=True)
    assert [left.id for left in fleet.ps()] == [other.id]


async def test_up_adopts_what_it_finds(fleet: Fleet) -> None:
    plan = plan_of(tiny("engine"))
    engine = await fleet.up(plan, adopt=False)
    assert await fleet.up(plan, adopt=False) == engine
    assert not fleet.adopted(engine)
    assert await fleet.up(plan) == engine
    assert fleet.adopted(engine)


@pytest.mark.parametrize(("adopt", "left"), [(False, True), (True, False)])
def test_an_engine_whose_run_was_killed_is_left_and_one_that_was_asked_for_is_not(
    fleet: Fleet, adopt: bool, left: bool
) -> None:
    program = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from labkit.engines.fleet import Fleet\n"
        "from unit.engines.plans import plan_of, tiny\n"
        "fleet = Fleet(Path(sys.argv[1]))\n"
        f"asyncio.run(fleet.up(plan_of(tiny('engine')), adopt={adopt}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    tests = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", program, str(fleet.state_dir)], env={**os.environ, "PYTHONPATH": tests}, check=False
    )
    (engine,) = fleet.ps()
    assert done.returncode == -signal.SIGKILL
    assert engine.status == "up"
    assert fleet.left(engine) is left


async def test_an_engine_whose_starter_lives_is_not_left(fleet: Fleet) -> None:
    assert not fleet.left(await fleet.up(plan_of(tiny("engine")), adopt=False))


async def test_a_program_that_is_not_there_is_told_before_anything_else(fleet: Fleet) -> None:
    absent = ProcessSpec(role="engine", argv=("no-such-vllm", "serve"), env={}, memory_bytes=1 << 50)
    with pytest.raises(EngineError, match="profile tiny runs `no-such-vllm`, which is not on PATH") as caught:
        await fleet.up(plan_of(absent, weights="smollm2-135m-instruct"))
    assert "--profile cpu-smollm2" in caught.value.hint
    assert fleet.ps() == []
