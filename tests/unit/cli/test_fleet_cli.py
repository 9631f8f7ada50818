"""`labkit ps`, `logs` and `down` over a fleet of tiny servers; `up` over the fake vLLM."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_vllm
import pytest
import typer
from typer.testing import CliRunner
from unit.engines.plans import plan_of, tiny

from labkit.cli import fleet as cli
from labkit.core.errors import BadInput, UnknownName
from labkit.engines.fleet import Fleet
from labkit.engines.registry import Engine


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    fleet = Fleet()
    yield fleet
    fleet.down()


@pytest.fixture
def engine(fleet: Fleet) -> Engine:
    return asyncio.run(fleet.up(plan_of(tiny("prefill"), tiny("decode"))))


def run(*words: str) -> str:
    app = typer.Typer()
    cli.register(app)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words), catch_exceptions=False)
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


def test_an_empty_fleet_says_what_to_do(fleet: Fleet) -> None:
    assert "labkit up --arm" in run("ps")
    assert "no engine was up" in run("down", "--all")
    with pytest.raises(BadInput, match="none is up"):
        run("down")


def test_logs_of_all_roles_or_of_one(engine: Engine) -> None:
    assert run("logs").splitlines() == ["prefill | starting", "decode | starting"]
    assert run("logs", engine.id[-4:], "--role", "decode", "-n", "1") == "decode | starting\n"
    with pytest.raises(UnknownName, match="prefill"):
        run("logs", "--role", "router")


def test_down_names_what_it_ended(engine: Engine, fleet: Fleet) -> None:
    with pytest.raises(BadInput, match="--all"):
        run("down", engine.id, "--all")
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
    with subprocess.Popen(words, env={**os.environ, "PATH": path}, stderr=subprocess.DEVNULL) as command:
        while not (fleet.ps() and fleet.ps()[0].processes):
            time.sleep(0.05)
        (engine,) = fleet.ps()
        assert engine.status == "starting"
        command.send_signal(how)
        assert command.wait(timeout=20) != 0
    assert fleet.ps() == []
    assert engine.dead_roles == ["engine"]
