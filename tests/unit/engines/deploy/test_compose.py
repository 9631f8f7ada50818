"""Compose files, read by a parser of the Compose specification, are the plan in the order in which it must start."""

from __future__ import annotations

from typing import Any

import pytest
from compose_spec import PyCompose
from unit.engines.deploy.deployed import EVERY, SPLIT, documents, planned, text_of


def parsed(text: str) -> dict[str, Any]:
    """As the parser of the specification reads it, after the interpolation that Compose does first."""
    return dict(PyCompose.from_yaml(text.replace("${HOME}", "/root").replace("$$", "$")).to_dict())


@pytest.mark.parametrize(("name", "arm"), EVERY)
def test_each_service_is_the_process_of_the_plan(name: str, arm: str) -> None:
    _, plan = planned(name, arm)
    services = parsed(text_of(name, arm, "compose"))["services"]
    assert set(services) == {process.role for process in plan.processes}
    for process in plan.processes:
        service = services[process.role]
        assert [*service["entrypoint"], *service["command"]] == list(process.argv)
        env = {key: value for key, value in service.get("environment", {}).items() if value is not None}
        assert env == process.env
        assert (service["network_mode"], service["ipc"]) == ("host", "host")


@pytest.mark.parametrize(("arm", "first"), [("pd", "router"), ("base", "engine-0")])
def test_who_waits_for_whom(arm: str, first: str) -> None:
    (document,) = documents(SPLIT, arm, "compose")
    services = document["services"]
    assert next(iter(services)) == first
    waits = {role: sorted(service.get("depends_on", {})) for role, service in services.items()}
    if arm == "pd":  # engines announce themselves to it
        assert waits == {"router": [], "prefill": ["router"], "decode": ["router"]}
    else:
        assert waits == {"router": ["engine-0", "engine-1"], "engine-0": [], "engine-1": []}
    conditions = [one for service in services.values() for one in service.get("depends_on", {}).values()]
    assert all(one == {"condition": "service_healthy"} for one in conditions)


def test_a_router_that_waits_for_its_engines_is_asked_whether_it_lives() -> None:
    """It answers /health with 503 until engines have announced themselves, and they wait for it."""
    (split,), (colocated,) = documents(SPLIT, "pd", "compose"), documents(SPLIT, "base", "compose")
    assert "http://127.0.0.1:8300/liveness" in split["services"]["router"]["healthcheck"]["test"][-1]
    assert "http://127.0.0.1:8300/health" in colocated["services"]["router"]["healthcheck"]["test"][-1]
    assert "http://127.0.0.1:20005/health" in split["services"]["prefill"]["healthcheck"]["test"][-1]
    assert split["services"]["prefill"]["healthcheck"]["start_period"] == "1800s"


def test_gpus_of_either_vendor() -> None:
    (amd,), (nvidia,) = documents(SPLIT, "pd", "compose"), documents("h200-1-qwen3-8b", "pd", "compose")
    assert amd["services"]["prefill"]["devices"] == ["/dev/kfd:/dev/kfd", "/dev/dri:/dev/dri"]
    (device,) = nvidia["services"]["decode"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "device_ids": ["0"], "capabilities": ["gpu"]}
    assert "devices" not in amd["services"]["router"]


def test_the_hubs_token_is_named_only() -> None:
    (document,) = documents(SPLIT, "pd", "compose")
    assert document["services"]["prefill"]["environment"]["HF_TOKEN"] is None
    assert "environment" not in document["services"]["router"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("start_period: 1800s", "start_period: soon"),
        ("condition: service_healthy", "condition: healthy"),
        ("network_mode: host", "networkmode: host"),
        ("memlock: -1", "memlock: much"),
        ("retries: 3", "retries: few"),
    ],
)
def test_the_parser_would_have_refused_a_mistake(right: str, wrong: str) -> None:
    text = text_of(SPLIT, "pd", "compose")
    assert right in text
    with pytest.raises(ValueError, match="services"):
        parsed(text.replace(right, wrong))
