"""Services: the names under which pods call each other, and the one that takes the requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.engines.deploy.deployment import Container, Deployment
from labkit.engines.deploy.kubernetes.addresses import service_name
from labkit.engines.deploy.kubernetes.pods import labels


def services(deployment: Deployment, *, together: bool) -> list[dict[str, Any]]:
    """One for each process; with the engines in one pod they lead to the same pod, at other ports."""
    return [_service(deployment, one, "all" if together else one.role, together) for one in deployment.in_order]


def _service(deployment: Deployment, container: Container, pod: str, together: bool) -> dict[str, Any]:
    """A router that engines announce themselves to is ready only when it knows them: its name leads there earlier."""
    heard = container.role == "router" and deployment.plan.router_first and not together
    early = {"publishNotReadyAddresses": True} if heard else {}
    spec = {"selector": labels(deployment, pod), **early, "ports": _ports(deployment, container, heard)}
    name = service_name(deployment, container.role)
    marks = labels(deployment, container.role)
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "labels": marks}, "spec": spec}


def _ports(deployment: Deployment, container: Container, heard: bool) -> Sequence[dict[str, Any]]:
    ports = [{"name": "http", "port": container.port, "targetPort": container.port}]
    discovery = deployment.plan.ports.get("discovery")
    if heard and discovery:
        ports.append({"name": "discovery", "port": discovery, "targetPort": discovery})
    return ports
