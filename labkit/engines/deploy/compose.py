"""A Docker Compose file: the containers of `docker run`, started in the right order by their health."""

from __future__ import annotations

import math
from typing import Any

from labkit.engines.deploy.deployment import Container, Deployment
from labkit.engines.deploy.docker import INFINIBAND, container_env
from labkit.engines.deploy.files import DeployFile
from labkit.engines.deploy.transfer import needs_rdma, shares_pids
from labkit.engines.deploy.words import HF_CACHE, head, images_said, never_run, router_said
from labkit.engines.deploy.yaml_text import yaml_text

_ASK = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}/{path}', timeout=4)"


def compose_file(deployment: Deployment) -> DeployFile:
    """One service per process, under the name of its role."""
    services = {one.role: _service(deployment, one) for one in deployment.in_order}
    text = yaml_text([{"name": deployment.name, "services": services}])
    return DeployFile("compose.yaml", head(deployment.plan, _said(deployment)) + "\n" + text)


def _service(deployment: Deployment, container: Container) -> dict[str, Any]:
    waits = _waits_for(deployment, container)
    return {
        "image": container.image,
        "network_mode": "host",
        "ipc": "host",
        **({"pid": "host"} if shares_pids(deployment) else {}),
        **({} if container.role == "router" else _machine(deployment)),
        "entrypoint": [container.argv[0]],
        "command": [_plain(word) for word in container.argv[1:]],
        **_environment(deployment, container),
        **({"volumes": _volumes(container)} if container.role != "router" else {}),
        "healthcheck": _health(deployment, container),
        **({"depends_on": {role: {"condition": "service_healthy"} for role in waits}} if waits else {}),
    }


def _plain(text: str) -> str:
    """Compose would open `$NAME`; doubled, the sign stands for itself."""
    return text.replace("$", "$$")


def _environment(deployment: Deployment, container: Container) -> dict[str, Any]:
    """A variable without a value is taken from the shell that runs Compose."""
    values = {name: _plain(value) for name, value in container_env(deployment, container).items()}
    variables = {**dict.fromkeys(container.secrets), **values}
    return {"environment": variables} if variables else {}


def _machine(deployment: Deployment) -> dict[str, Any]:
    vendor = deployment.profile.machine.vendor
    cards = [f"{INFINIBAND}:{INFINIBAND}"] if needs_rdma(deployment) else []
    if vendor == "amd":
        return {
            "devices": ["/dev/kfd:/dev/kfd", "/dev/dri:/dev/dri", *cards],
            "group_add": ["video"],
            "cap_add": ["SYS_PTRACE"],
            "security_opt": ["seccomp=unconfined"],
            "ulimits": {"memlock": -1},
        }
    if vendor == "nvidia":
        ids = [str(gpu) for gpu in deployment.gpus]
        devices = [{"driver": "nvidia", "device_ids": ids, "capabilities": ["gpu"]}]
        gpus = {"deploy": {"resources": {"reservations": {"devices": devices}}}}
        return {**({"devices": cards} if cards else {}), "ulimits": {"memlock": -1}, **gpus}
    return {}


def _volumes(container: Container) -> list[dict[str, Any]]:
    cache = {"type": "bind", "source": "${HOME}/.cache/huggingface", "target": HF_CACHE}
    folder = container.model_folder
    return [cache, {"type": "bind", "source": folder, "target": folder, "read_only": True}] if folder else [cache]


def _health(deployment: Deployment, container: Container) -> dict[str, Any]:
    """Asked from within, by a Python: the engines and their routers are Python packages."""
    path = "liveness" if _waited_for_by_engines(deployment, container) else "health"
    seconds = math.ceil(deployment.plan.max_startup_s)
    return {
        "test": ["CMD", "python3", "-c", _ASK.format(port=container.port, path=path)],
        "interval": "5s",
        "timeout": "5s",
        "retries": 3,
        "start_period": f"{seconds}s",
    }


def _waited_for_by_engines(deployment: Deployment, container: Container) -> bool:
    """A router that engines announce themselves to answers /health with 503 until they have: they wait for less."""
    return container.role == "router" and deployment.plan.router_first


def _waits_for(deployment: Deployment, container: Container) -> tuple[str, ...]:
    if deployment.router is None or (container.role == "router") == deployment.plan.router_first:
        return ()
    others = deployment.engines if container.role == "router" else (deployment.router,)
    return tuple(one.role for one in others)


def _said(deployment: Deployment) -> list[str]:
    order = (
        "The router first: engines announce themselves to it. It answers /liveness at once, /health once it knows them."
        if deployment.plan.router_first
        else "The engines first; the router starts once they are healthy."
    )
    pids = ("pid: host: HIP IPC and UCX would take two containers' equal process ids for one process.",)
    return [
        "Start: docker compose up --detach --wait. End: docker compose down.",
        *((order,) if deployment.router else ()),
        "Host network, as the plan has it: not all ports of a KV transfer are known beforehand. Servers listen on",
        "127.0.0.1. HF_TOKEN is taken from the shell; it stands in no file. Make ~/.cache/huggingface first.",
        *(pids if shares_pids(deployment) else ()),
        "The health checks run python3 within each container: an image without it never becomes healthy.",
        *images_said(deployment),
        *router_said(deployment),
        *never_run(deployment),
    ]
