"""Ray Serve, as installed, takes the files of every arm, and would start the engines of the plan.

No cluster is started: one process reads all files with Ray's own schema and builders.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from unit.engines.deploy.deployed import EVERY, SPLIT, documents, planned, with_engine

from labkit.core.arms import ARMS
from labkit.engines.deploy.ray_serve.engine import OF_RAY, engine_kwargs
from labkit.engines.profiles import load_profile

pytestmark = pytest.mark.engine

SAYABLE = [
    *((name, arm) for name, arm in EVERY if load_profile(name).engine.command != "sglang"),
    *(("cpu-smollm2", arm.label) for arm in ARMS),
]
NODE = "192.0.2.7"
READER = Path(__file__).with_name("ray_serve_reads.py")
Answers = list[dict[str, Any]]


def ask(files: list[dict[str, Any]]) -> Answers:
    done = subprocess.run(
        [sys.executable, str(READER)], input=json.dumps(files), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: Answers = json.loads(done.stdout.splitlines()[-1])
    return answers


def wrong() -> list[dict[str, Any]]:
    """Files that Ray must refuse: a misspelt argument, an executor that is not Ray's, a split without its connector."""
    made = []
    for change in ({"block_sise": 16}, {"distributed_executor_backend": "mp"}, {"kv_transfer_config": None}):
        (document,) = documents(SPLIT, "pd", "ray-serve")
        document["applications"][0]["args"]["prefill_config"]["engine_kwargs"].update(change)
        made.append(document)
    return made


@pytest.fixture(scope="module")
def told() -> dict[str, Answers]:
    right = [documents(name, arm, "ray-serve")[0] for name, arm in SAYABLE]
    two = [documents(with_engine("h200-1-qwen3-8b", gpus=((0,), (1,))), "pd", "ray-serve")[0]]
    answers = ask([*right, *wrong(), *two])
    return {"right": answers[: len(right)], "wrong": answers[len(right) : -1], "two": answers[-1:]}


def of(told: dict[str, Answers], name: str, arm: str) -> dict[str, Any]:
    return told["right"][SAYABLE.index((name, arm))]


def test_every_arm_is_taken(told: dict[str, Answers]) -> None:
    refused = {at: answer["refused"] for at, answer in zip(SAYABLE, told["right"], strict=True) if answer["refused"]}
    assert refused == {}


def test_a_mistake_is_refused(told: dict[str, Answers]) -> None:
    said = [answer["refused"] or "taken" for answer in told["wrong"]]
    assert "block_sise" in said[0]
    assert "distributed_executor_backend" in said[1]
    assert "kv_transfer_config is required" in said[2]


@pytest.mark.parametrize(("name", "arm"), SAYABLE)
def test_vllm_is_given_the_arguments_of_the_plan(told: dict[str, Answers], name: str, arm: str) -> None:
    _, plan = planned(name, arm)
    engines = [process for process in plan.processes if process.role != "router"]
    answers = of(told, name, arm)["engines"]
    for process, answer in zip(engines, answers, strict=False):
        given = {**answer["kwargs"], **answer["frontend"]}
        asked = {key: value for key, value in engine_kwargs(process).items() if key not in OF_RAY}
        transfer, _ = asked.pop("kv_transfer_config", {}), given.pop("kv_transfer_config", {})
        assert asked.items() <= given.items()
        assert given["served_model_name"] == [plan.model]
        assert set(given) - set(asked) <= {*OF_RAY, "enable_log_requests"}
        assert (answer["kv"] or {}).get("kv_role") == transfer.get("kv_role")


def test_rays_moriio_has_the_plans_ports_and_no_router_to_announce_itself_to(told: dict[str, Answers]) -> None:
    _, plan = planned(SPLIT, "pd")
    for role, answer in zip(("prefill", "decode"), of(told, SPLIT, "pd")["engines"], strict=True):
        extra = answer["kv"]["kv_connector_extra_config"]
        assert extra["handshake_port"] == str(plan.ports[f"{role}-handshake"])
        assert extra["notify_port"] == str(plan.ports[f"{role}-notify"])
        assert (extra["proxy_ip"], extra["backend"], extra["read_mode"]) == ("", "xgmi", False)
        assert extra["host_ip"] == NODE


def test_rays_nixl_has_the_plans_ports(told: dict[str, Answers]) -> None:
    _, plan = planned("h200-1-qwen3-8b", "pd")
    channels = [answer["side_channel"] for answer in of(told, "h200-1-qwen3-8b", "pd")["engines"]]
    assert channels == [str(plan.ports["prefill-side"]), str(plan.ports["decode-side"])]


def test_gpus_are_the_plans(told: dict[str, Answers]) -> None:
    """A GPU that two processes share is shared under Ray, too."""
    split, single = of(told, SPLIT, "pd")["engines"], of(told, "h200-1-qwen3-8b", "base")["engines"]
    assert [one["bundles"] for one in split] == [[{"CPU": 1, "GPU": 1}] * 4] * 2
    assert {one["strategy"] for one in split} == {"STRICT_PACK"}
    assert single[0]["bundles"] == [{"CPU": 1, "GPU": 1}]
    shared, apart = of(told, "h200-1-qwen3-8b", "pd")["engines"], told["two"][0]["engines"]
    assert [one["bundles"][0]["GPU"] for one in shared] == [0.5, 0.5]
    assert [one["bundles"][0]["GPU"] for one in apart] == [1, 1]


def test_what_is_deployed(told: dict[str, Answers]) -> None:
    split, colocated = of(told, SPLIT, "pd")["deployments"], of(told, SPLIT, "base")["deployments"]
    assert {name.split(":")[0] for name in split} == {"OpenAiIngress", "Prefill", "Decode"}
    assert [one["replicas"] for name, one in split.items() if ":qwen3" in name] == [1, 1]
    (engine,) = [one for name, one in colocated.items() if ":qwen3" in name]
    assert engine["replicas"] == 2
    assert engine["router"].endswith("ConsistentHashRouter")
