"""`labkit ps`, `logs` and `down` over a fleet of tiny servers; `up` over the fake vLLM."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_vllm
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner
from unit.engines.plans import plan_of, tiny

from labkit.analysis.format import DASH
from labkit.cli import fleet as cli
from labkit.cli.fleet_view import Lines
from labkit.core.clock import FakeClock
from labkit.core.errors import BadInput, EngineBusy, LabError, UnknownName
from labkit.core.progress import Progress
from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine
from labkit.experiments import warm


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    fleet = Fleet()
    yield fleet
    fleet.down()


@pytest.fixture
def engine(fleet: Fleet) -> Engine:
    return asyncio.run(fleet.up(plan_of(tiny("prefill"), tiny("decode"))))


def run(*words: str, columns: int = 200) -> str:
    app = typer.Typer()
    cli.register(app)
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_ps_shows_what_is_up_and_what_died(engine: Engine) -> None:
    assert f"{engine.base_url}" in run("ps")
    os.kill(engine.process("decode").pid, signal.SIGKILL)
    while engine.alive:
        time.sleep(0.02)
    said = run("ps")
    assert "dead (decode ended)" in said
    assert "labkit down" in said
    assert DASH in said.splitlines()[2].split()
    assert max(map(len, run("ps", columns=80).splitlines())) <= 80


def test_ps_keeps_ids_and_addresses_whole_whatever_the_width(engine: Engine) -> None:
    for columns in (40, 80):
        heading, *_, row = run("ps", columns=columns).splitlines()
        assert heading.split() == ["engine", "status", "url", "up", "for"]
        assert row.split()[:3] == [engine.id, "up", engine.base_url]
    assert f"prefill {engine.process('prefill').pid}" in run("ps")


def test_ps_says_of_an_engine_whose_run_was_killed_who_may_end_it(fleet: Fleet) -> None:
    program = (
        "import asyncio, os, signal\n"
        "from labkit.engines.fleet import Fleet\n"
        "from unit.engines.plans import plan_of, tiny\n"
        "asyncio.run(Fleet().up(plan_of(tiny('engine')), adopt=False))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", program], env=environment, check=False)
    (engine,) = fleet.ps()
    said = run("ps")
    assert "left (its run is gone)" in said
    assert f"The run that started {engine.id} is gone: anybody may use it, or end it: labkit down {engine.id}" in said
    assert max(map(len, run("ps", columns=80).splitlines()[:3])) <= 80
    with fleet.lock(engine, "run 7f3a"):
        assert f"The run that started {engine.id} is gone: run 7f3a uses it now" in run("ps")


def test_an_empty_fleet_says_what_to_do(fleet: Fleet) -> None:
    assert "labkit up --arm" in run("ps")
    assert "no engine was up" in run("down", "--all")
    for command in ("down", "logs"):
        with pytest.raises(LabError, match=r"^no engine is up; start one with: labkit up --arm prefix$"):
            run(command)


def test_logs_of_all_roles_or_of_one(engine: Engine) -> None:
    assert run("logs").splitlines() == ["prefill | starting", "decode | starting"]
    assert run("logs", engine.id[-4:], "--role", "decode", "-n", "1") == "decode | starting\n"
    with pytest.raises(UnknownName, match="prefill"):
        run("logs", "--role", "router")


def test_down_names_what_it_ended(engine: Engine, fleet: Fleet) -> None:
    with pytest.raises(BadInput, match="--all"):
        run("down", engine.id, "--all")
    with fleet.lock(engine, "run 7f3a"):
        for words in ((), (engine.id,), ("--all",)):
            with pytest.raises(EngineBusy, match="held by run 7f3a"):
                run("down", *words)
    assert run("down", engine.id) == f"{engine.id} is down\n"
    assert fleet.ps() == []


def test_up_starts_and_finds(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile, path = fake_vllm.install(tmp_path, os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    said = run("up", "--profile", str(profile), "--arm", "base")
    (engine,) = fleet.ps()
    assert said == f"{engine.id} is up: {engine.base_url}/v1 serves {engine.model}\n"
    assert run("up", "--profile", str(profile), "--arm", "base") == said


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_start_that_is_interrupted_leaves_nothing(fleet: Fleet, tmp_path: Path, how: signal.Signals) -> None:
    """The whole command in a process of its own, as a terminal or a service manager would end it."""
    profile, path = fake_vllm.install(tmp_path, os.environ["PATH"])
    program = tmp_path / "bin" / "vllm"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    words = [sys.executable, "-m", "labkit", "up", "--profile", str(profile), "--arm", "base"]
    environment = {**os.environ, "PATH": path}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as command:
        while not (fleet.ps() and fleet.ps()[0].processes):
            time.sleep(0.05)
        (engine,) = fleet.ps()
        assert engine.status == "starting"
        command.send_signal(how)
        assert command.wait(timeout=20) == 128 + how
        said = command.stderr.read().splitlines()
    assert said[0].startswith("starting base: starting (0 s of")
    assert said[-1] == "the start was stopped; nothing of it is left running"
    assert fleet.ps() == []
    assert engine.dead_roles == ["engine"]


def test_a_start_without_a_terminal_prints_a_line_each_ten_seconds() -> None:
    clock, out = FakeClock(), io.StringIO()
    lines = Lines(Console(file=out), clock)
    for second in range(25):
        lines(Progress(stage="starting base", message=f"{second} s"))
        clock.advance(1.0)
    assert out.getvalue().splitlines() == [f"starting base: {second} s" for second in (0, 10, 20)]


async def test_the_dashboard_ends_only_what_is_free(fleet: Fleet) -> None:
    held = await fleet.up(plan_of(tiny("engine")))
    await fleet.up(plan_of(tiny("engine", "--slow", "0.1")))
    with fleet.lock(held, "run 7f3a"):
        assert warm.end_all() == 1
    assert [left.id for left in fleet.ps()] == [held.id]
