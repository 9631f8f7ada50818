"""Deployments: one for each process that may live alone, or one for all that must share a pod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.engines.deploy.deployment import Container, Deployment
from labkit.engines.deploy.kubernetes.addresses import apart, listening, takes_pod_ip, within
from labkit.engines.deploy.kubernetes.probes import probes, probes_of_all
from labkit.engines.deploy.kubernetes.together import script
from labkit.engines.deploy.words import HF_CACHE

HF_SECRET, HF_CLAIM = "hf-token", "hf-cache"
RESOURCES = {"amd": "amd.com/gpu", "nvidia": "nvidia.com/gpu"}


def labels(deployment: Deployment, role: str = "") -> dict[str, str]:
    """What marks an object of this deployment, and of one process of it."""
    both = {"app.kubernetes.io/name": "labkit", "app.kubernetes.io/instance": deployment.name}
    return {**both, "app.kubernetes.io/component": role} if role else both


def deployments(deployment: Deployment, *, together: bool) -> list[dict[str, Any]]:
    """The Deployment objects; one for all where the engines share a container."""
    if together:
        pods = [_engines_in_one(deployment), *([_router_beside(deployment)] if deployment.router else [])]
        return [_object(deployment, "all", pods)]
    return [_object(deployment, one.role, [_alone(deployment, one)]) for one in deployment.in_order]


def _object(deployment: Deployment, role: str, containers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    marks = labels(deployment, role)
    spec = {
        "enableServiceLinks": False,  # a Service called vllm would set VLLM_PORT
        **(_near_the_others(deployment) if role != "all" else {}),
        "containers": list(containers),
        **({"volumes": _volumes(deployment)} if role != "router" else {}),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"{deployment.name}-{role}", "labels": marks},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},  # there are no GPUs for an old and a new pod at once
            "selector": {"matchLabels": marks},
            "template": {"metadata": {"labels": marks}, "spec": spec},
        },
    }


def _alone(deployment: Deployment, container: Container) -> dict[str, Any]:
    moved = apart(deployment, container)
    addresses = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}} for name in takes_pod_ip(container)
    ]
    return {
        **_program(moved),
        **_environment([*_secret_env(deployment, moved), *addresses, *_env(moved)]),
        "ports": [{"name": "http", "containerPort": moved.port}],
        **_resources(deployment, len(container.gpus), container.memory_bytes),
        **probes(moved, deployment.plan.max_startup_s),
        **(_mounts(deployment) if container.role != "router" else {}),
    }


def _engines_in_one(deployment: Deployment) -> dict[str, Any]:
    engines = [within(deployment, engine) for engine in deployment.engines]
    memory = sum(engine.memory_bytes for engine in engines)
    return {
        "name": "engines",
        "image": engines[0].image,
        "command": ["bash", "-c"],
        "args": [_plain(script(engines))],
        **_environment(_secret_env(deployment, engines[0])),
        "ports": [{"name": engine.role, "containerPort": engine.port} for engine in engines],
        **_resources(deployment, len(deployment.gpus), memory),
        **probes_of_all(engines, deployment.plan.max_startup_s),
        **_mounts(deployment),
    }


def _router_beside(deployment: Deployment) -> dict[str, Any]:
    """The router in the engines' pod: the plan's addresses hold."""
    assert deployment.router is not None
    router = listening(deployment, deployment.router)
    ports = [{"name": "router", "containerPort": router.port}]
    variables = _environment([*_secret_env(deployment, router), *_env(router)])
    return {**_program(router), **variables, "ports": ports, **probes(router, deployment.plan.max_startup_s)}


def _program(container: Container) -> dict[str, Any]:
    args = [_plain(word) for word in container.argv[1:]]
    return {"name": container.role, "image": container.image, "command": [container.argv[0]], "args": args}


def _environment(variables: list[dict[str, Any]]) -> dict[str, Any]:
    return {"env": variables} if variables else {}


def _plain(text: str) -> str:
    """Kubernetes would open `$(NAME)`; doubled, the sign stands for itself."""
    return text.replace("$(", "$$(")


def _env(container: Container) -> list[dict[str, Any]]:
    return [{"name": name, "value": _plain(value)} for name, value in container.env.items()]


def _secret_env(deployment: Deployment, container: Container) -> list[dict[str, Any]]:
    """Secrets by the names of the Secrets that hold them. The hub's is asked for, and missed without harm."""
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": name, "optional": name == "HF_TOKEN"}}}
        for name in container.secrets
        for secret in [HF_SECRET if name == "HF_TOKEN" else f"{deployment.name}-secrets"]
    ]


def _resources(deployment: Deployment, gpus: int, memory_bytes: int) -> dict[str, Any]:
    name = RESOURCES.get(deployment.profile.machine.vendor)
    limits = {"limits": {name: gpus}} if name and gpus else {}
    resources: dict[str, Any] = {"requests": {"memory": f"{memory_bytes >> 20}Mi"}, **limits}
    amd = gpus and deployment.profile.machine.vendor == "amd"
    return {"resources": resources, **({"securityContext": _AMD} if amd else {})}


_AMD = {"seccompProfile": {"type": "Unconfined"}, "capabilities": {"add": ["SYS_PTRACE"]}}


def _mounts(deployment: Deployment) -> dict[str, Any]:
    mounts = [{"name": "shm", "mountPath": "/dev/shm"}, {"name": HF_CLAIM, "mountPath": HF_CACHE}]
    folder = deployment.engines[0].model_folder
    model = [{"name": "model", "mountPath": folder, "readOnly": True}] if folder else []
    return {"volumeMounts": [*mounts, *model]}


def _volumes(deployment: Deployment) -> list[dict[str, Any]]:
    """Processes of an engine exchange batches in /dev/shm, for which a container's default of 64 MiB is too little."""
    cache = {"name": HF_CLAIM, "persistentVolumeClaim": {"claimName": HF_CLAIM}}
    folder = deployment.engines[0].model_folder
    model = [{"name": "model", "hostPath": {"path": folder, "type": "Directory"}}] if folder else []
    return [{"name": "shm", "emptyDir": {"medium": "Memory"}}, cache, *model]


def _near_the_others(deployment: Deployment) -> dict[str, Any]:
    """A plan is of one machine: pods go where the others are, if they can."""
    if len(deployment.containers) == 1:
        return {}
    near = {"labelSelector": {"matchLabels": labels(deployment)}, "topologyKey": "kubernetes.io/hostname"}
    wish = [{"weight": 100, "podAffinityTerm": near}]
    return {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wish}}}
