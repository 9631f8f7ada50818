"""What pod networking does to a plan's addresses.

Within a pod 127.0.0.1 is shared, across pods it is another machine. So servers listen on 0.0.0.0 (a Service, and the
kubelet's probes, come in by the pod's address), other pods are called by the name of their Service, and what an engine
tells others of itself is its pod's address, which only the cluster knows: the downward API fills it in.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

from labkit.engines.deploy.arguments import value_of, with_value
from labkit.engines.deploy.deployment import VISIBLE_DEVICES, Container, Deployment, renumbered

_URL = re.compile(r"http://127\.0\.0\.1:(\d+)")
POD_IP = ("VLLM_HOST_IP", "VLLM_NIXL_SIDE_CHANNEL_HOST", "SGLANG_HOST_IP")
"""Variables that hold the address under which other pods reach an engine."""


def service_name(deployment: Deployment, role: str) -> str:
    """The name under which other pods call a process."""
    return f"{deployment.name}-{role}"


def listening(deployment: Deployment, container: Container) -> Container:
    """The container's server on every address of its pod.

    Kubernetes starts a router beside its engines, not after them: it waits as long as the plan lets them take.
    """
    argv = with_value(container.argv, "--host", "0.0.0.0")
    if container.role == "router" and not deployment.plan.router_first:
        argv = (*argv, "--worker-startup-timeout-secs", str(math.ceil(deployment.plan.max_startup_s)))
    return replace(container, argv=argv)


def within(deployment: Deployment, container: Container) -> Container:
    """A process in a container that has all of the plan's GPUs: which of them are its own stays in its environment."""
    return replace(listening(deployment, container), env=renumbered(container.env, deployment.gpus))


def apart(deployment: Deployment, container: Container) -> Container:
    """A process in a pod of its own: called and calling by name, on the GPUs that the device plugin gave it."""
    moved = listening(deployment, container)
    argv = with_value(moved.argv, "--base-gpu-id", "0")
    argv = tuple(_URL.sub(lambda found: _named(deployment, found), word) for word in argv)
    env = {name: value for name, value in moved.env.items() if name not in (*VISIBLE_DEVICES, *POD_IP)}
    return replace(moved, argv=_discovered(_announced(deployment, argv)), env=env)


def takes_pod_ip(container: Container) -> tuple[str, ...]:
    """The variables of a container of the plan that become its pod's address."""
    return tuple(name for name in POD_IP if name in container.env)


def _named(deployment: Deployment, found: re.Match[str]) -> str:
    role = next(one.role for one in deployment.containers if str(one.port) == found[1])
    return f"http://{service_name(deployment, role)}:{found[1]}"


def _announced(deployment: Deployment, argv: tuple[str, ...]) -> tuple[str, ...]:
    """MoRI-IO tells the router of itself: by the router's name."""
    text = value_of(argv, "--kv-transfer-config")
    config = json.loads(text) if text else {}
    if "proxy_ip" not in config.get("kv_connector_extra_config", {}):
        return argv
    config["kv_connector_extra_config"]["proxy_ip"] = service_name(deployment, "router")
    return with_value(argv, "--kv-transfer-config", json.dumps(config, separators=(",", ":")))


def _discovered(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A router hears engines on every address."""
    heard = value_of(argv, "--vllm-discovery-address") or ""
    return with_value(argv, "--vllm-discovery-address", heard.replace("127.0.0.1", "0.0.0.0"))
