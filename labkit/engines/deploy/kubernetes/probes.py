"""Probes: when a container has started, and when requests may come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from labkit.engines.deploy.deployment import Container

_PERIOD_S = 10
_ASK = "import urllib.request as u; [u.urlopen(f'http://127.0.0.1:{port}/health', timeout=4) for port in (PORTS)]"


def probes(container: Container, max_startup_s: float) -> dict[str, Any]:
    """Of a container with one server. `max_startup_s`: what the plan lets it take to start.

    A router that knows no engine yet answers /health with 503, and /liveness with 200: it has started.
    """
    started = "/liveness" if container.role == "router" else "/health"
    return _both(_get(started, container.port), _get("/health", container.port), max_startup_s)


def probes_of_all(containers: Sequence[Container], max_startup_s: float) -> dict[str, Any]:
    """Of a container with several servers: all of them have to be healthy."""
    ports = "".join(f"{one.port}, " for one in containers)
    ask = {"exec": {"command": ["python3", "-c", _ASK.replace("PORTS", ports.strip())]}}
    return _both(ask, ask, max_startup_s)


def _get(path: str, port: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": port}}


def _both(started: dict[str, Any], ready: dict[str, Any], max_startup_s: float) -> dict[str, Any]:
    often = {"periodSeconds": _PERIOD_S, "timeoutSeconds": 5}
    failures = max(1, math.ceil(max_startup_s / _PERIOD_S))
    return {
        "startupProbe": {**started, **often, "failureThreshold": failures},
        "readinessProbe": {**ready, **often, "failureThreshold": 3},
    }
