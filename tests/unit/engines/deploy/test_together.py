"""Engines that share a container: the script is the plan, and it ends when one of them does."""

from __future__ import annotations

import shlex
import signal
import subprocess
import time
from dataclasses import replace
from typing import Any

import pytest
from unit.engines.deploy.deployed import EVERY, SPLIT, documents, planned, with_engine

from labkit.engines.deploy.arguments import with_value
from labkit.engines.deploy.deployment import Container, deployment
from labkit.engines.deploy.kubernetes.together import script


def pod(name: str, arm: str) -> list[dict[str, Any]]:
    """The containers of the first pod."""
    containers: list[dict[str, Any]] = documents(name, arm, "k8s")[0]["spec"]["template"]["spec"]["containers"]
    return containers


SHARING = [(name, arm) for name, arm in EVERY if pod(name, arm)[0]["name"] == "engines"]


def commands(text: str) -> list[list[str]]:
    """What the script starts in the background: the words behind `env`."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line.removesuffix("&"))[1:] for line in lines if line.startswith("env ")]


@pytest.mark.parametrize(("name", "arm"), SHARING)
def test_the_script_starts_the_plans_engines(name: str, arm: str) -> None:
    _, plan = planned(name, arm)
    engines = pod(name, arm)[0]
    found = commands(engines["args"][0])
    listening = [with_value(one.argv, "--host", "0.0.0.0") for one in plan.processes[:-1]]
    env = [[f"{name}={value}" for name, value in one.env.items()] for one in plan.processes[:-1]]
    assert found == [[*ours, *argv] for ours, argv in zip(env, listening, strict=True)]


def test_who_shares_a_container() -> None:
    shared = {name.split("+")[0] for name, _ in SHARING}
    assert shared >= {SPLIT, "h200-1-qwen3-8b", "mi300x-1-qwen3-8b"}
    assert {arm for _, arm in SHARING} == {"pd", "prefix+pd", "pd+spec", "all"}
    assert not [name for name, _ in SHARING if name.endswith("+rdma")]


def test_gpus_are_counted_as_the_container_counts_them() -> None:
    flags = {**planned(SPLIT, "pd")[0].engine.flags, "tensor-parallel-size": 2}
    found = documents(with_engine(SPLIT, gpus=((2, 3), (6, 7)), flags=flags), "pd", "k8s")
    engines = found[0]["spec"]["template"]["spec"]["containers"][0]
    visible = [word for command in commands(engines["args"][0]) for word in command if word.startswith("HIP_VISIBLE")]
    assert visible == ["HIP_VISIBLE_DEVICES=0,1", "HIP_VISIBLE_DEVICES=2,3"]
    assert engines["resources"]["limits"] == {"amd.com/gpu": 4}


def running(*programs: tuple[str, ...]) -> str:
    """The script for these programs in the engines' place."""
    engine: Container = deployment(*planned(SPLIT, "pd")).engines[0]
    return script([replace(engine, argv=argv, env={"A": "1"}) for argv in programs])


def test_when_one_engine_ends_the_other_is_ended_and_the_script_fails() -> None:
    text = running(("sleep", "60"), ("bash", "-c", "exit 3"))
    began = time.monotonic()
    assert subprocess.run(["bash", "-c", text], timeout=30, check=False).returncode == 1
    assert time.monotonic() - began < 20


def test_when_the_pod_is_ended_the_engines_end_in_peace() -> None:
    loop = "trap 'echo ended; exit 0' TERM; echo up; while true; do sleep 0.05; done"
    with subprocess.Popen(
        ["bash", "-c", running(("bash", "-c", loop), ("bash", "-c", loop))], stdout=subprocess.PIPE
    ) as pod:
        assert pod.stdout is not None
        assert [pod.stdout.readline() for _ in range(2)] == [b"up\n", b"up\n"]
        pod.send_signal(signal.SIGTERM)
        assert pod.stdout.read() == b"ended\nended\n"
        assert pod.wait(30) == 0
