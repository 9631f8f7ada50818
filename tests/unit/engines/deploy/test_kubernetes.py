"""Manifests by Kubernetes' own schemas, strictly; and what holds them together that no schema knows."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
from kubernetes_validate import utils
from unit.engines.deploy.deployed import EVERY, SPLIT, documents, planned, text_of, with_engine

from labkit.engines.deploy.arguments import value_of

NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
VERSION = "1.34"


@pytest.fixture(scope="module", autouse=True)
def schemas_are_read_once() -> Iterator[None]:
    """Else each document reads all definitions of Kubernetes again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "schema_contents", functools.cache(utils.schema_contents))
        yield


def deployments(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in found if one["kind"] == "Deployment"]


def services(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one["spec"] for one in found if one["kind"] == "Service"}


def containers(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    pods = [one["spec"]["template"]["spec"] for one in deployments(found)]
    return {container["name"]: container for pod in pods for container in pod["containers"]}


def values(container: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["value"] for one in container.get("env", []) if "value" in one}


@pytest.mark.parametrize(("name", "arm"), EVERY)
def test_every_document_is_one_that_kubernetes_knows(name: str, arm: str) -> None:
    found = documents(name, arm, "k8s")
    for document in found:
        kubernetes_validate.validate(document, VERSION, strict=True)
        assert NAME.fullmatch(document["metadata"]["name"])
        assert all(len(label) <= 63 for label in document["metadata"]["labels"].values())
    _, plan = planned(name, arm)
    assert len(services(found)) == len(plan.processes)


def test_the_schema_would_have_refused_a_mistake() -> None:
    (document, *_) = documents(SPLIT, "pd", "k8s")
    document["spec"]["template"]["spec"]["containers"][0]["imagePolicy"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, VERSION, strict=True)


@pytest.mark.parametrize(("name", "arm"), EVERY)
def test_services_lead_to_pods_that_listen_there(name: str, arm: str) -> None:
    found = documents(name, arm, "k8s")
    pods = [one["spec"]["template"] for one in deployments(found)]
    for spec in services(found).values():
        (pod,) = [one for one in pods if spec["selector"].items() <= one["metadata"]["labels"].items()]
        listens = {port["containerPort"] for one in pod["spec"]["containers"] for port in one["ports"]}
        heard = {value_of(one.get("args", []), "--vllm-discovery-address") for one in pod["spec"]["containers"]}
        listens |= {int(address.rpartition(":")[2]) for address in heard if address}
        assert {port["targetPort"] for port in spec["ports"]} <= listens
    for one in deployments(found):
        assert one["spec"]["selector"]["matchLabels"] == one["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(("name", "arm"), EVERY)
def test_gpus_add_up_and_probes_wait_as_long_as_the_plan_does(name: str, arm: str) -> None:
    profile, plan = planned(name, arm)
    found = containers(documents(name, arm, "k8s"))
    resource = {"amd": "amd.com/gpu", "nvidia": "nvidia.com/gpu"}[profile.machine.vendor]
    asked = [one.get("resources", {}).get("limits", {}).get(resource, 0) for one in found.values()]
    used = {gpu for index in range(2 if len(plan.processes) > 1 else 1) for gpu in profile.engine.gpus[index]}
    assert sum(asked) == len(used) <= profile.machine.gpus
    for container in found.values():
        startup = container["startupProbe"]
        assert startup["failureThreshold"] * startup["periodSeconds"] >= math.floor(plan.max_startup_s)
        assert "readinessProbe" in container


@pytest.mark.parametrize(("name", "arm"), EVERY)
def test_an_engine_takes_the_hubs_token_from_a_secret(name: str, arm: str) -> None:
    found = containers(documents(name, arm, "k8s"))
    engines = [one for name, one in found.items() if name != "router"]
    for engine in engines:
        (token,) = [one for one in engine["env"] if one["name"] == "HF_TOKEN"]
        assert token["valueFrom"]["secretKeyRef"]["name"] == "hf-token"
        assert "/dev/shm" in {mount["mountPath"] for mount in engine["volumeMounts"]}


def test_replicas_live_apart_and_the_device_plugin_chooses_their_gpus() -> None:
    found = documents(SPLIT, "base", "k8s")
    _, plan = planned(SPLIT, "base")
    assert [one["metadata"]["name"].rsplit("-base-", 1)[1] for one in deployments(found)] == [
        "engine-0", "engine-1", "router"
    ]  # fmt: skip
    engine = containers(found)["engine-0"]
    kept = {name: value for name, value in plan.processes[0].env.items() if "VISIBLE" not in name}
    assert values(engine) == {name: value for name, value in kept.items() if name != "VLLM_HOST_IP"}
    (address,) = [one for one in engine["env"] if one["name"] == "VLLM_HOST_IP"]
    assert address["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert value_of(engine["args"], "--host") == "0.0.0.0"
    moved = [word if word != "127.0.0.1" else "0.0.0.0" for word in plan.processes[0].argv]
    assert [*engine["command"], *engine["args"]] == moved


def test_a_router_calls_its_engines_by_the_names_of_their_services() -> None:
    found = documents(SPLIT, "base", "k8s")
    args = containers(found)["router"]["args"]
    urls = [word for word in args if word.startswith("http://")]
    assert {tuple(url.removeprefix("http://").split(":")) for url in urls} == {
        (name, str(spec["ports"][0]["port"])) for name, spec in services(found).items() if "engine" in name
    }
    assert value_of(args, "--worker-startup-timeout-secs") == "1800"
    assert value_of(args, "--host") == "0.0.0.0"


def test_over_rdma_engines_announce_themselves_to_a_router_that_is_not_ready_yet() -> None:
    found = documents(f"{SPLIT}+rdma", "pd", "k8s")
    parts, known = containers(found), services(found)
    config = json.loads(value_of(parts["prefill"]["args"], "--kv-transfer-config") or "")
    extra = config["kv_connector_extra_config"]
    router = known[extra["proxy_ip"]]
    assert router["publishNotReadyAddresses"] is True
    assert int(extra["proxy_ping_port"]) in {port["port"] for port in router["ports"]}
    assert value_of(parts["router"]["args"], "--vllm-discovery-address") == "0.0.0.0:36367"
    assert parts["router"]["startupProbe"]["httpGet"]["path"] == "/liveness"
    assert parts["router"]["readinessProbe"]["httpGet"]["path"] == "/health"
    assert "RDMA" in text_of(f"{SPLIT}+rdma", "pd", "k8s").split("apiVersion")[0]


def test_nixl_on_gpus_of_its_own_says_its_pods_address() -> None:
    profile = with_engine("h200-1-qwen3-8b", gpus=((0,), (1,)))
    found = documents(profile, "pd", "k8s")
    parts = containers(found)
    for role in ("prefill", "decode"):
        taken = [one["name"] for one in parts[role]["env"] if "fieldRef" in one.get("valueFrom", {})]
        assert taken == ["VLLM_HOST_IP", "VLLM_NIXL_SIDE_CHANNEL_HOST"]
        assert not [name for name in values(parts[role]) if "VISIBLE" in name]
    prefill = value_of(parts["router"]["args"], "--prefill") or ""
    assert prefill.removeprefix("http://").split(":")[0] in services(found)


def test_the_head_says_what_was_changed_and_what_was_not_run() -> None:
    for arm, said in (("pd", "one container"), ("base", "device plugin chooses")):
        head = text_of(SPLIT, arm, "k8s").split("apiVersion")[0]
        assert said in head
        assert "0.0.0.0" in head
        assert "has not run it on MI300X" in head
        assert all(line.startswith("#") for line in head.strip().splitlines())
