"""Processes: they die as groups, a reused pid is not ours, and nothing is left of a killed leader."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from unit.engines.plans import SERVER, runs

from labkit.core.errors import EngineError
from labkit.engines.environment import engine_environment
from labkit.engines.ports import free_ports
from labkit.engines.process import ProcessState, end_group, end_groups, exit_code, group, is_alive, spawn


def start(tmp_path: Path, *options: str) -> ProcessState:
    port = free_ports(["x"])["x"]
    return spawn([sys.executable, SERVER, str(port), *options], os.environ, tmp_path / "log", port=port)


def wait_for(path: Path) -> int:
    """The pid that a tiny server wrote about its child."""
    for _ in range(200):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError("the child was not started")


def test_a_group_ends_with_its_children(tmp_path: Path) -> None:
    state = start(tmp_path, "--child", str(tmp_path / "pid"))
    child = wait_for(tmp_path / "pid")
    assert is_alive(state)
    assert {process.pid for process in group(state)} == {state.pid, child}
    assert end_group(state)
    assert not is_alive(state)
    assert not runs(child)
    assert not end_group(state)


def test_children_of_a_killed_leader_are_found_and_ended(tmp_path: Path) -> None:
    state = start(tmp_path, "--child", str(tmp_path / "pid"))
    child = wait_for(tmp_path / "pid")
    os.kill(state.pid, signal.SIGKILL)
    while is_alive(state):
        time.sleep(0.02)
    assert exit_code(state) == -9
    assert [process.pid for process in group(state)] == [child]
    assert end_group(state)
    assert not runs(child)


def test_a_process_that_ignores_term_is_killed(tmp_path: Path) -> None:
    state = start(tmp_path, "--deaf")
    while "starting" not in (tmp_path / "log").read_text():
        time.sleep(0.02)
    began = time.monotonic()
    assert end_group(state, grace_s=0.3)
    assert not is_alive(state)
    assert time.monotonic() - began < 4


def test_a_reused_pid_is_not_ours(tmp_path: Path) -> None:
    state = start(tmp_path)
    older = dataclasses.replace(state, created=state.created - 100)
    assert not is_alive(older)
    assert group(older) == []
    assert not end_groups([older])
    assert is_alive(state)
    end_group(state)


def test_output_goes_to_the_log_and_the_state_survives_json(tmp_path: Path) -> None:
    state = spawn(
        [sys.executable, "-c", "print('out'); import sys; sys.exit('err')"], os.environ, tmp_path / "a" / "log"
    )
    while is_alive(state):
        time.sleep(0.02)
    assert sorted((tmp_path / "a" / "log").read_text().split()) == ["err", "out"]
    assert exit_code(state) == 1
    assert ProcessState.from_dict(state.to_dict()) == state


def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no-such-program cannot be started"):
        spawn(["no-such-program"], {}, tmp_path / "log")


def test_steering_variables_are_not_inherited() -> None:
    inherited = {"PATH": "/bin", "VLLM_USE_V2_MODEL_RUNNER": "1", "OMP_NUM_THREADS": "7", "HOME": "/root"}
    assert engine_environment(inherited, {"OMP_NUM_THREADS": "2"}) == {
        "PATH": "/bin",
        "HOME": "/root",
        "OMP_NUM_THREADS": "2",
    }
